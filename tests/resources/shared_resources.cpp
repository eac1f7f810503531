// SPDX-License-Identifier: BSD-3-Clause
#include <rill/resources/shared_resources.hpp>

#include <thread>

#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_runtime_containers {

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

TEST_CASE("containers: sessions share the variables of a container, and of no other") {
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

TEST_CASE("containers: values outlive sessions, until the container is reset") {
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

TEST_CASE("containers: memory comes back when the last holder goes") {
    session::reset();
    std::weak_ptr<resource> there;
    {
        program a("large");
        a.s->run(a.start);
        const auto found = detail::shared_resources::of_process().find(
            {"large", {}}, "v", "variable " + to_string(tensor_type{dtype::float32, dims{}}),
            [](const std::string&) -> std::shared_ptr<resource> { throw internal("it is there"); }, {});
        there = found;
    }
    CHECK(!there.expired());
    session::reset("", {"large"});
    CHECK(there.expired());
}

TEST_CASE("containers: two uses of one name as different things are refused, with both") {
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

TEST_CASE("containers: who waits in one that is reset is told so") {
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

} // namespace test_runtime_containers
