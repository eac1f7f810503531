// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/container_set.hpp>

#include <thread>

#include <rill/graph/serialization/serialization.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_resources_container_set {

/// A graph with a counter in a container, as programs that share one would each make it.
struct program {
    program(const std::string& container, const std::string& shared_name = {}) {
        const graph_scope here(g);
        const container_scope owned(container);
        const variable<float> v("v", 0.f, {.shared_name = shared_name});
        start = v.initializer();
        value = v;
        next = v.assign_add(1.f);
        s = std::make_unique<session>(g);
    }
    graph g;
    operation start;
    tensor<float> value, next;
    std::unique_ptr<session> s;
};

TEST_CASE("container_set: sessions share the variables of a container, and of no other") {
    session::reset();
    program a("one"), b("one"), c("two"), own("");
    a.s->run(a.start);
    CHECK(b.s->run(b.next) == 1.f);
    CHECK(a.s->run(a.next) == 2.f);
    c.s->run(c.start);
    CHECK(c.s->run(c.value) == 0.f);
    CHECK_THROWS_AS(own.s->run(own.value), failed_precondition); // its own, which has no value
    program named("", "counter"), same("", "counter");
    named.s->run(named.start);
    CHECK(same.s->run(same.next) == 1.f);
    CHECK(named.s->run(named.value) == 1.f);
    session::reset();
}

TEST_CASE("container_set: values outlive sessions, until the container is reset") {
    session::reset();
    {
        program a("kept");
        a.s->run(a.start);
        a.s->run(a.next);
    }
    program b("kept"), spared("spared"), own("");
    CHECK(b.s->run(b.value) == 1.f);
    spared.s->run(spared.start);
    own.s->run(own.start);
    session::reset("", {"kept"});
    CHECK_THROWS_WITH(b.s->run(b.value), contains("closed") && contains("containers was reset"));
    CHECK(spared.s->run(spared.value) == 0.f);
    CHECK(own.s->run(own.value) == 0.f);
    program again("kept");
    CHECK_THROWS_AS(again.s->run(again.value), failed_precondition); // it is empty
    CHECK_THROWS_AS(session::reset("tcp://127.0.0.1:1"), unimplemented);
    session::reset();
    CHECK_THROWS_AS(spared.s->run(spared.value), cancelled);
    CHECK(own.s->run(own.value) == 0.f);
}

TEST_CASE("container_set: memory comes back when the last holder goes") {
    session::reset();
    std::weak_ptr<resource> there;
    {
        program a("large");
        a.s->run(a.start);
        const auto found = detail::container_set::of_process().find(
            {"large", {}}, "v", "variable " + to_string(tensor_type{dtype::float32, dims{}}),
            [](const std::string&) -> std::shared_ptr<resource> { throw internal("it is there"); }, {});
        there = found;
    }
    CHECK(!there.expired());
    session::reset("", {"large"});
    CHECK(there.expired());
}

TEST_CASE("container_set: two uses of one name as different things are refused, with both") {
    session::reset();
    program a("mixed");
    a.s->run(a.start);
    graph g;
    {
        const graph_scope here(g);
        const container_scope owned("mixed");
        const variable<int, 2> v("v", {0, 0});
        const session s;
        CHECK_THROWS_WITH(s.run(v.initializer()), contains("'v' of the container 'mixed'") && contains("float32 []") &&
                                                      contains("int32 [2]") && contains("node 'v'"));
    }
    const graph_scope here{graph()};
    const container_scope owned("mixed");
    fifo_queue<tensor<float>> q({.capacity = 2, .name = "q"}), other_kind({.capacity = 3, .shared_name = "v"});
    fifo_queue<tensor<float>> smaller({.capacity = 1, .shared_name = "q"});
    random_shuffle_queue<tensor<float>> shuffled({.capacity = 2, .shared_name = "q"});
    const session s;
    CHECK(s.run(q.size()) == 0);
    CHECK(s.run(other_kind.size()) == 0); // a queue may have the name of a variable
    CHECK_THROWS_WITH(s.run(smaller.size()), contains("capacity 2") && contains("capacity 1"));
    CHECK_THROWS_WITH(s.run(shuffled.size()), contains("a FIFOQueue") && contains("a RandomShuffleQueue"));
    try {
        s.run(smaller.size());
    } catch (const invalid_argument& e) { // its place is said once
        const std::string what = e.what();
        CHECK(what.find("made at") == what.rfind("made at"));
    }
    session::reset();
}

TEST_CASE("container_set: who waits in one that is reset is told so") {
    session::reset();
    const graph_scope here{graph()};
    const container_scope owned("waited");
    const fifo_queue<tensor<float>> q({.name = "q"});
    const auto x = q.dequeue();
    const session s;
    CHECK(s.run(q.size()) == 0);
    std::thread resets([] { session::reset("", {"waited"}); });
    CHECK_THROWS_AS(s.run(x), cancelled);
    resets.join();
}

using detail::container_set;
using detail::open_session;

std::shared_ptr<container_set> task_set() {
    return std::make_shared<container_set>(default_allocator(), detail::draw_incarnation());
}

/// A graph with one piece of state of each sort, none of it in a named container.
struct stateful_program {
    stateful_program() {
        const graph_scope here(g);
        const variable<float> v("v", 0.f);
        start = v.initializer();
        value = v;
        next = v.assign_add(1.f);
        const fifo_queue<tensor<float>> q({.capacity = 2, .name = "q"});
        x = placeholder<float>("x");
        handle = q.handle();
        put = q.enqueue(x);
        take = q.dequeue();
        size = q.size();
        noise = random_uniform<float, 4>();
    }
    graph g;
    operation start, put;
    any_tensor handle;
    tensor<float> x, value, next, take;
    tensor<int> size;
    tensor<float, 4> noise;
};

/// The edge of the same name in a graph that was loaded.
any_tensor in(const graph& loaded, const any_tensor& x) {
    return any_tensor(endpoint{loaded.state().find(x.node()->name), x.end().port});
}

TEST_CASE("container_set: a graph that is loaded again finds its variables, queues and counters") {
    const auto task = task_set();
    const stateful_program first, second;
    const graph loaded = graph_from_bytes(graph_to_bytes(first.g));
    const session alone(first.g);
    const auto draw_1 = alone.run(first.noise), draw_2 = alone.run(first.noise), draw_3 = alone.run(first.noise);
    tracked_allocator memory;
    {
        const session s = open_session(first.g, {.memory = &memory}, task);
        s.run(first.start);
        CHECK(s.run(first.next) == 1.f);
        s.run(first.put, feed(first.x, 5.f));
        CHECK((s.run(first.noise) == draw_1));
    }
    CHECK(memory.bytes_in_use() == 0); // state that outlives a session is not in its memory
    const session again = open_session(second.g, {}, task);
    CHECK(again.run(second.next) == 2.f);
    CHECK(again.run(second.take) == 5.f);
    CHECK((again.run(second.noise) == draw_2));
    const session third = open_session(loaded, {}, task);
    CHECK(third.run(in(loaded, first.next)).value<float>() == 3.f);
    CHECK(third.run(in(loaded, first.size)).value<int>() == 0);
    const auto noise = third.run(in(loaded, first.noise));
    CHECK(std::equal(draw_3.begin(), draw_3.end(), noise.elements<float>().begin()));
    CHECK(again.run(second.value) == 3.f);
}

TEST_CASE("container_set: two sets of one process, and local sessions, do not see each other") {
    const auto task = task_set(), other = task_set();
    CHECK(task->incarnation() != other->incarnation());
    const stateful_program p;
    const session s = open_session(p.g, {}, task), apart = open_session(p.g, {}, other), local(p.g);
    s.run(p.start);
    s.run(p.put, feed(p.x, 5.f));
    const auto drawn = s.run(p.noise);
    for (const session* at : {&apart, &local}) {
        CHECK_THROWS_AS(at->run(p.value), failed_precondition);
        CHECK(at->run(p.size) == 0);
        CHECK((at->run(p.noise) == drawn)); // the first draw there, too
    }
    CHECK(s.run(p.size) == 1);
    // named containers and shared names are the task's, not the process's
    session::reset();
    program in_process("named");
    in_process.s->run(in_process.start);
    const session in_task = open_session(in_process.g, {}, task);
    CHECK_THROWS_AS(in_task.run(in_process.value), failed_precondition);
    in_task.run(in_process.start);
    session::reset();
    CHECK(in_task.run(in_process.value) == 0.f);
    CHECK_THROWS_AS(in_process.s->run(in_process.value), cancelled);
}

TEST_CASE("container_set: a graph whose state is of another type is refused, with both") {
    const auto task = task_set();
    const stateful_program p;
    const session s = open_session(p.g, {}, task);
    s.run(p.start);
    s.run(p.put, feed(p.x, 5.f));
    const graph_scope here{graph()};
    const variable<float, 2> shape("v", {1, 2});
    const fifo_queue<tensor<float>> room({.capacity = 3, .name = "q"});
    const session wrong = open_session(current_graph(), {}, task);
    CHECK_THROWS_AS(wrong.run(shape.initializer()), invalid_argument);
    CHECK_THROWS_WITH(wrong.run(shape.initializer()),
                      contains("'v' of the default container is a variable float32 [], here it is to be a variable "
                               "float32 [2]") &&
                          contains("variable: ") && contains("node 'v', made at"));
    CHECK_THROWS_WITH(wrong.run(room.size()), contains("capacity 2") && contains("capacity 3") && contains("node 'q'"));
    CHECK_THROWS_AS(wrong.run(room.size()), invalid_argument);
    const graph_scope there{graph()};
    const variable<int> type("v", 1);
    const random_shuffle_queue<tensor<float>> order({.capacity = 2, .name = "q"});
    const session also = open_session(current_graph(), {}, task);
    CHECK_THROWS_WITH(also.run(type.initializer()), contains("float32 []") && contains("int32 []"));
    CHECK_THROWS_WITH(also.run(order.size()), contains("a FIFOQueue") && contains("a RandomShuffleQueue"));
    const graph_scope elsewhere{graph()};
    const mutex lock("v"); // another kind: a name of its own
    const session locks = open_session(current_graph(), {}, task);
    CHECK_NOTHROW(locks.run(lock.acquire()));
    CHECK(s.run(p.next) == 1.f);
}

TEST_CASE("container_set: a handle of another task is refused") {
    const auto task = task_set(), other = task_set();
    const stateful_program p;
    const session s = open_session(p.g, {}, task), same = open_session(p.g, {}, task),
                  apart = open_session(p.g, {}, other), local(p.g), next(p.g);
    s.run(p.put, feed(p.x, 5.f));
    const auto handle = [&](const session& of) { return of.run(p.handle); };
    CHECK((handle(s).value<std::int64_t>() >> 32) == task->incarnation());
    CHECK((handle(apart).value<std::int64_t>() >> 32) == other->incarnation());
    CHECK((handle(local).value<std::int64_t>() >> 32) == detail::process_incarnation());
    CHECK(same.run(p.size, feed(p.handle, handle(s))) == 1);
    CHECK(next.run(p.size, feed(p.handle, handle(local))) == 0); // local sessions are of one task
    for (const session* at : {&apart, &local}) {
        CHECK_THROWS_AS(at->run(p.size, feed(p.handle, handle(s))), invalid_argument);
        CHECK_THROWS_WITH(at->run(p.size, feed(p.handle, handle(s))),
                          contains("a handle of another task") && contains("made at"));
        CHECK_THROWS_WITH(at->run(p.take, feed(p.handle, handle(s))), contains("a handle of another task"));
    }
    CHECK_THROWS_WITH(s.run(p.size, feed(p.handle, handle(local))), contains("a handle of another task"));
}

TEST_CASE("container_set: a reset empties a task's containers and ends the sessions that use them") {
    const auto task = task_set();
    const stateful_program p;
    program named("named");
    const session s = open_session(p.g, {}, task), in_named = open_session(named.g, {}, task), local(p.g);
    s.run(p.start);
    local.run(p.start);
    in_named.run(named.start);
    task->reset({"named"});
    CHECK_THROWS_WITH(in_named.run(named.value), contains("closed") && contains("containers was reset"));
    CHECK(s.run(p.value) == 0.f);
    std::thread resets([&] { task->reset({}); });
    CHECK_THROWS_AS(s.run(p.take), cancelled); // perhaps it waits already
    resets.join();
    CHECK_THROWS_AS(s.run(p.value), cancelled);
    CHECK(local.run(p.value) == 0.f);
    const session again = open_session(p.g, {}, task);
    CHECK_THROWS_AS(again.run(p.value), failed_precondition);
}

TEST_CASE("container_set: sessions that open at once have one variable of each name") {
    constexpr int threads = 4, runs = 100;
    const auto task = task_set();
    const stateful_program p;
    const session s = open_session(p.g, {}, task);
    s.run(p.start);
    std::vector<std::thread> all;
    for (int k = 0; k < threads; ++k)
        all.emplace_back([&] {
            const stateful_program mine;
            for (int i = 0; i < runs; ++i) open_session(mine.g, {}, task).run(mine.next);
        });
    for (auto& t : all) t.join();
    CHECK(s.run(p.value) == threads * runs);
}

TEST_CASE("container_set: loaded graphs export the values that others have written") {
    const auto task = task_set();
    const stateful_program first, second;
    const session s = open_session(first.g, {}, task), again = open_session(second.g, {}, task);
    s.run(first.start);
    s.run(first.next);
    const auto values = with_values(again).values;
    REQUIRE(values.size() == 1);
    CHECK(values[0].first == second.value.node());
    CHECK(values[0].second.value<float>() == 1.f);
}

} // namespace test_resources_container_set
