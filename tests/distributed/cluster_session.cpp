// SPDX-License-Identifier: BSD-3-Clause
// Clusters in virtual time: their start, their end, queues that several clients use, and steps that fail. G10, G11, G12, G13.
#include <rill/distributed/cluster_session.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <rill/distributed.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "catch.hpp"
#include "distributed/simulated_cluster.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_cluster_session {

using namespace std::chrono_literals;
using simulator::virtual_client;
using simulator::virtual_cluster;

template <class F> auto on(const char* device, F f) {
    const device_scope here(device);
    return f();
}

std::string run_start(std::uint64_t seed) {
    virtual_cluster all(seed, {.latency = std::chrono::microseconds(seed % 3 * 10000 + 100)}, false);
    auto& draws = all.world.draws;
    virtual_client client(all, "client", "worker", 0);
    auto last = environment::time_point{};
    std::chrono::nanoseconds busy{}; // up to then
    for (const auto& t : all.spec.all_tasks()) {
        const auto starts = std::chrono::milliseconds(draws(20000));
        last = std::max(last, environment::time_point(starts));
        all.world.after(starts, [&all, &busy, t] {
            busy = all.world.time.busy();
            all.start(t.job, t.task);
        });
    }
    graph g;
    graph_scope use(g);
    const auto a = on("/job:ps/task:0", [] { return variable<float>("a", 1.f); });
    const auto b = on("/job:ps/task:1", [] { return variable<float>("b", 2.f); });
    const auto sum = on("/job:worker/task:1", [&] { return tensor<float>(a + b); });
    session s({.target = client.target}); // waits for the tasks
    s.run(std::tuple(a.initializer(), b.initializer()));
    CHECK(s.run(sum) == 3.f);
    // of at most 2.7 s in 20 seeds, up to 1.7 s are waits of ready tasks: the simulator keeps all threads busy now and then
    CHECK(all.world.time.now() - last - (all.world.time.busy() - busy) < 2s);
    return all.world.time.log;
}

TEST_CASE("cluster session: G10: tasks start in any order, and all are joined within 2 s of the last", "[random]") {
    seeds::each(20, [](std::uint64_t seed) {
        const auto log = run_start(seed);
        CHECK(run_start(seed) == log);
    });
}

TEST_CASE("cluster session: values that come after the step has failed are dropped") {
    virtual_cluster all(3, {.latency = 300ms});
    virtual_client client(all, "client", "worker", 0);
    graph g;
    graph_scope use(g);
    const auto empty = on("/job:ps/task:0", [] { return variable<float>("empty", 1.f); });
    const auto fails = on("/job:ps/task:0", [&] { return tensor<float>(empty + 1.f); });
    placeholder<float, dyn> x("x"); // its values come in chunks, long after the error
    const auto late = on("/job:ps/task:1", [&] { return tensor<float, dyn>(x + 1.f); });
    session s({.target = client.target});
    const std::vector<float> values(300'000);
    for (int i = 0; i < 2; ++i) {
        CHECK_THROWS_AS(s.run(std::tuple(fails, late), feed(x, values)), failed_precondition);
        all.world.time.sleep(10s);
    }
    CHECK(s.run(late, feed(x, values)).size() == values.size());
}

TEST_CASE("cluster session: a step with another number of feeds than its run takes") {
    simulator::simulated_world world(4);
    auto& at = world.start("worker");
    const auto peers = std::make_shared<rill::detail::peer_channels>(
        cluster_spec{{"worker", {"feeds/worker"}}},
        rill::detail::task_identity{"/job:worker/replica:0/task:0", 7, "digest"},
        std::make_shared<simulator::simulated_net>(world, at), at, health_options{});
    const auto own = std::make_shared<rill::detail::worker>(peers, default_allocator());
    const auto s = std::make_shared<rill::detail::cluster_session>(session_options{}, peers, own);
    graph g;
    graph_scope use(g);
    placeholder<float> x("x");
    const tensor<float> y(x + 1.f);
    std::shared_ptr<const rill::detail::cluster_run> run;
    s->prepare(g, {.fetches = {y}, .targets = {}, .feeds = {x}},
               [&](const std::exception_ptr&, const auto& made) { run = made; });
    REQUIRE(run);
    const auto done = [](const std::exception_ptr&, const std::vector<any_array>&) {};
    CHECK_THROWS_AS(s->start(run, {}, {}, done), invalid_argument);
    s->close("over");
    own->close();
    world.time.run();
}

std::string run_end(std::uint64_t seed) {
    virtual_cluster all(seed, {.reset_one_in = seed % 2 ? std::size_t(50) : 0});
    auto& draws = all.world.draws;
    const auto client = std::make_unique<virtual_client>(all, "client", "worker", 0);
    graph g;
    graph_scope use(g);
    const auto queue = on("/job:ps/task:0", [] { return fifo_queue<tensor<float>>({.capacity = 1}); });
    const auto waits = on("/job:ps/task:0", [&] { return queue.dequeue(); });
    const auto then = on("/job:worker/task:1", [&] { return tensor<float>(waits * 2.f); });
    const auto far = on("/job:ps/task:1", [&] { return tensor<float>(then + 1.f); });
    auto s = std::make_unique<session>(session_options{.target = client->target});
    int ended = 0;
    const auto count = [&](const std::exception_ptr& problem, const auto&) {
        ++ended;
        CHECK(problem);
    };
    {
        const auto one = s->make_callable(std::tuple(waits)), all_tasks = s->make_callable(std::tuple(far));
        for (int i = 0; i < 3; ++i) one.start(count), all_tasks.start(count);
    }
    all.world.time.sleep(std::chrono::milliseconds(draws(500)));
    const auto fault = draws(5);
    auto* frozen = fault < 3 ? all.tasks.at({fault == 0 ? "worker" : "ps", fault == 2}) : nullptr;
    if (frozen) all.world.freeze(*frozen);
    if (fault == 3) all.kill("ps", 1);
    all.world.time.sleep(std::chrono::milliseconds(draws(3000)));
    const auto begun = all.world.time.now();
    s->close();
    CHECK(all.world.time.wait_for([&] { return ended == 6; }, 1s));
    s.reset();
    while (!all.servers.empty()) {
        const auto next = std::next(all.servers.begin(), static_cast<std::ptrdiff_t>(draws(all.servers.size())));
        all.servers.erase(next);
        all.world.time.sleep(std::chrono::milliseconds(draws(100)));
    }
    if (frozen) all.world.thaw(*frozen);
    all.world.time.run(); // ends: nothing is left that would go on for ever
    CHECK(ended == 6);
    INFO("fault " << fault << ", " << std::chrono::duration<double>(all.world.time.now() - begun).count() << " s");
    CHECK(all.world.time.now() < begun + 120s);
    return all.world.time.log;
}

TEST_CASE("cluster session: G11: a session closes in time with tasks dead, busy or gone, and nothing stays behind",
          "[random]") {
    seeds::each(20, [](std::uint64_t seed) {
        const auto log = run_end(seed);
        CHECK(run_end(seed) == log);
    });
}

std::vector<float> values_of(float x) { return {x}; }
std::vector<float> values_of(const xt::xtensor<float, 1>& x) { return {x.begin(), x.end()}; }

/// Clients that put numbers into a queue and take them out, one or two at a time, with timeouts and cancellations, on a network that breaks
/// connections. In half of the runs a client closes the queue meanwhile. Returns the log.
std::string run_queue(std::uint64_t seed) {
    virtual_cluster all(seed, {.reset_one_in = seed % 2 ? std::size_t(80) : 0,
                               .latency = std::chrono::microseconds(seed % 3 * 5000 + 100)});
    auto& draws = all.world.draws;
    graph g;
    graph_scope use(g);
    const device_scope ps("/job:ps/task:0");
    placeholder<float> x("x");
    placeholder<float, 2> two("two");
    const fifo_queue<tensor<float>> queue({.capacity = 3});
    const auto put = queue.enqueue(x), put_two = queue.enqueue_many(two);
    const auto take = queue.dequeue();
    const auto take_two = queue.dequeue_many<2>();
    const auto size = queue.size();
    const auto close = queue.close();

    std::vector<std::unique_ptr<virtual_client>> clients;
    std::vector<std::unique_ptr<session>> sessions;
    for (std::size_t c = 0; c < 3; ++c) {
        clients.push_back(
            std::make_unique<virtual_client>(all, "client" + std::to_string(c), "worker", static_cast<int>(c % 2)));
        sessions.push_back(std::make_unique<session>(g, session_options{.target = clients.back()->target}));
    }
    struct ending {
        int times = 0;
        bool is_put = false, is_double = false;
        std::exception_ptr problem;
        std::vector<float> values; // that were taken
        environment::time_point deadline = environment::time_point::max(), at{};
        std::chrono::nanoseconds busy{}; // of the world when the call begins; then until it ends: time that does not count
    };
    constexpr std::size_t calls = 30;
    std::vector<ending> ends(calls);
    std::vector<cancellation_token> tokens(calls);
    using put_call = decltype(sessions[0]->make_callable(std::tuple(put), x));
    using take_call = decltype(sessions[0]->make_callable(std::tuple(take)));
    using put_two_call = decltype(sessions[0]->make_callable(std::tuple(put_two), two));
    using take_two_call = decltype(sessions[0]->make_callable(std::tuple(take_two)));
    std::vector<put_call> puts;
    std::vector<take_call> takes;
    std::vector<put_two_call> puts_of_two;
    std::vector<take_two_call> takes_of_two;
    for (const auto& s : sessions) {
        puts.push_back(s->make_callable(std::tuple(put), x));
        takes.push_back(s->make_callable(std::tuple(take)));
        puts_of_two.push_back(s->make_callable(std::tuple(put_two), two));
        takes_of_two.push_back(s->make_callable(std::tuple(take_two)));
    }
    const auto closes = sessions[1]->make_callable(std::tuple(close));
    const bool is_closed = draws(2) == 0; // meanwhile
    bool has_closed = false;
    if (is_closed)
        all.world.after(std::chrono::milliseconds(draws(3000)), [&] {
            closes.start([&](const std::exception_ptr& p, const auto&) {
                CHECK_FALSE(p);
                has_closed = true;
            });
        });
    for (std::size_t i = 0; i < calls; ++i) {
        ends[i].is_put = draws(2);
        ends[i].is_double = draws(3) == 0;
        all.world.after(std::chrono::milliseconds(draws(3000)), [&, i] {
            auto& e = ends[i];
            e.busy = all.world.time.busy();
            const auto who = draws(sessions.size());
            run_options how{.cancel = tokens[i]};
            if (draws(2)) {
                how.timeout = std::chrono::milliseconds(1 + draws(1500));
                e.deadline = all.world.time.now() + how.timeout;
            }
            const auto note = [&](const std::exception_ptr& problem) {
                ++e.times;
                e.problem = problem;
                e.at = all.world.time.now();
                e.busy = all.world.time.busy() - e.busy;
            };
            const auto number = static_cast<float>(i);
            const auto ends_put = [note](const std::exception_ptr& p, const auto&) { note(p); };
            const auto ends_take = [note, &e](const std::exception_ptr& p, const auto& values) {
                if (!p) e.values = values_of(std::get<0>(values));
                note(p);
            };
            if (e.is_put && e.is_double)
                puts_of_two[who].with(how).start(std::vector<float>{number, number + 0.5f}, ends_put);
            else if (e.is_put)
                puts[who].with(how).start(number, ends_put);
            else if (e.is_double)
                takes_of_two[who].with(how).start(ends_take);
            else
                takes[who].with(how).start(ends_take);
        });
        if (draws(4) == 0) all.world.after(std::chrono::milliseconds(draws(4000)), [&, i] { tokens[i].cancel(); });
    }
    all.world.time.sleep(5s);
    // the queue is usable, whatever has timed out: what waits without a deadline goes on
    std::set<float> out, left;
    auto& first = *sessions[0];
    const auto waiting = [&](bool is_put) {
        return std::ranges::any_of(ends, [&](const auto& e) { return e.times == 0 && e.is_put == is_put; });
    };
    while (waiting(true)) {
        if (first.run(size) > 0) CHECK(left.insert(first.run(take, run_options{.timeout = 5s})).second);
        all.world.time.sleep(500ms);
    }
    all.world.time.sleep(5s);
    CHECK(has_closed == is_closed);
    for (float extra = 1000; waiting(false); ++extra) {
        REQUIRE_FALSE(is_closed); // it ends what waits for more than it has
        first.run(put, feed(x, extra), {.timeout = 5s});
        all.world.time.sleep(500ms);
    }
    for (auto n = first.run(size); n > 0; --n) CHECK(left.insert(first.run(take)).second);
    std::size_t lost = 0;
    for (const auto& e : ends) {
        CHECK(e.times == 1);
        CHECK((e.deadline == environment::time_point::max() || e.at - e.busy < e.deadline + 500ms));
        if (e.is_put) continue;
        const bool found_none = e.problem && rill::detail::described(e.problem).first == error_code::out_of_range;
        if (found_none) CHECK(is_closed);
        if (e.problem && !found_none) lost += e.is_double ? 2 : 1; // that it may have taken
        for (const float v : e.values) CHECK(out.insert(v).second);
    }
    std::size_t gone = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        const auto v = static_cast<float>(i);
        const auto is_there = [&](float value) { return out.contains(value) || left.contains(value); };
        if (!ends[i].is_put) CHECK_FALSE((is_there(v) || is_there(v + 0.5f)));
        if (!ends[i].is_double) CHECK_FALSE(is_there(v + 0.5f));
        if (ends[i].is_put && !ends[i].problem) gone += !is_there(v) + (ends[i].is_double && !is_there(v + 0.5f));
    }
    CHECK(gone <= lost);
    if (!is_closed) first.run(close);
    CHECK_THROWS_AS(first.run(take), out_of_range);
    return all.world.time.log;
}

TEST_CASE("cluster session: G12: no call of a queue outlives its deadline, and no number is lost or doubled",
          "[random]") {
    seeds::each(16, [](std::uint64_t seed) {
        const auto log = run_queue(seed);
        CHECK(run_queue(seed) == log);
    });
}

/// A part of a step, as its task has seen it. Times leave out work: all tasks share one thread, which the simulator keeps busy now and then.
struct seen_part {
    std::chrono::nanoseconds begin{}, end{};
    int begins = 0, ends = 0;
    bool has_failed = false;
};

/// A task that notes when parts of steps begin and end in it.
struct spied_task {
    using time_point = environment::time_point;
    using seen_parts = std::map<std::uint64_t, seen_part>; // by step

    spied_task(simulator::simulated_world& world, const cluster_spec& cluster, const device_name& name)
        : task(world.start(to_string(name))), net(std::make_shared<simulator::simulated_net>(world, task)) {
        const rill::detail::task_identity self{to_string(name), (task.draw() >> 33) + 1, cluster.digest()};
        peers = std::make_shared<rill::detail::peer_channels>(cluster, self, net, task, health_options{});
        w = std::make_shared<rill::detail::worker>(peers, default_allocator());
        answers = std::make_shared<rill::detail::responder>(
            net, task, self, health_options{},
            [&world, to = w, parts = parts](const rill::detail::incoming_request& r,
                                            const rill::detail::answer_function& reply) {
                if (r.method != rill::detail::wire_method::run_part) return to->handle(r, reply);
                const auto now = [&time = world.time] {
                    return time.now().time_since_epoch() - time.busy() - time.worked();
                };
                const auto step = rill::detail::meta_of<rill::detail::step_meta>(r.meta).step;
                (*parts)[step].begin = now();
                ++(*parts)[step].begins;
                to->handle(r, [=](const std::exception_ptr& problem, rill::detail::wire_answer a) {
                    auto& p = (*parts)[step];
                    p.end = now();
                    ++p.ends;
                    p.has_failed = problem != nullptr;
                    reply(problem, std::move(a));
                });
            });
        answers->listen(cluster.address(name));
    }
    ~spied_task() {
        answers->close();
        peers->close();
        w->close();
        net->close();
    }

    simulator::simulated_world::task& task;
    std::shared_ptr<simulator::simulated_net> net;
    std::shared_ptr<rill::detail::peer_channels> peers;
    std::shared_ptr<rill::detail::worker> w;
    std::shared_ptr<seen_parts> parts = std::make_shared<seen_parts>();
    std::shared_ptr<rill::detail::responder> answers;
};

any_array filled(const dims& shape, float number) {
    any_array a(dtype::float32, shape);
    std::fill_n(static_cast<float*>(a.mutable_data()), a.size(), number);
    return a;
}

/// Steps whose tasks tell each other the number of the step, and of which one task fails, or the caller gives up. Returns the log.
std::string run_aborts(std::uint64_t seed) {
    simulator::simulated_world world(seed, {.latency = std::chrono::microseconds(seed % 4 * 2000 + 100)});
    auto& draws = world.draws;
    const cluster_spec cluster{{"chief", {"aborts/chief"}},
                               {"ps", {"aborts/ps0", "aborts/ps1"}},
                               {"worker", {"aborts/worker0", "aborts/worker1"}}};
    std::vector<std::unique_ptr<spied_task>> tasks;
    for (const auto& t : cluster.all_tasks()) tasks.push_back(std::make_unique<spied_task>(world, cluster, t));
    const auto s = std::make_shared<rill::detail::cluster_session>(session_options{}, tasks[0]->peers, tasks[0]->w);

    graph g;
    graph_scope use(g);
    constexpr std::size_t computing = 4;
    const placeholder<float> number("number");
    std::vector<placeholder<float, dyn>> pair; // of two numbers, or the task fails
    std::vector<variable<float>> wrong;        // how far the numbers that came were from that of the step
    std::vector<tensor<float>> told;
    rill::detail::plan_key step{.fetches = {}, .targets = {}, .feeds = {number.end()}}, first, last;
    for (std::size_t t = 0; t < computing; ++t) {
        const device_scope here(to_string(cluster.all_tasks()[t + 1]));
        const auto own = std::to_string(t);
        pair.emplace_back("pair" + own);
        step.feeds.push_back(pair[t].end());
        wrong.emplace_back("wrong" + own, 0.f);
        told.emplace_back(reduce_sum(pair[t] + constant({0.f, 0.f})) + number);
        first.targets.push_back(wrong[t].initializer().node());
        last.fetches.push_back(wrong[t].end());
    }
    for (std::size_t t = 0; t < computing; ++t) {
        const device_scope here(to_string(cluster.all_tasks()[t + 1]));
        tensor<float> sum(constant(0.f));
        for (std::size_t other = 0; other < computing; ++other)
            if (other != t) sum = tensor<float>(sum + square(told[other] - number));
        step.targets.push_back(wrong[t].assign_add(sum).node());
    }
    const auto prepared = [&](const rill::detail::plan_key& key) {
        std::shared_ptr<const rill::detail::cluster_run> run;
        s->prepare(g, key, [&](const std::exception_ptr& p, const auto& made) {
            CHECK_FALSE(p);
            run = made;
        });
        while (!run) world.time.run_one();
        return run;
    };
    const auto run_once = [&](const rill::detail::plan_key& key) {
        std::optional<std::vector<any_array>> values;
        s->start(prepared(key), {}, {}, [&](const std::exception_ptr& p, const std::vector<any_array>& v) {
            CHECK_FALSE(p);
            values = v;
        });
        while (!values) world.time.run_one();
        return *values;
    };
    run_once(first);
    const auto run = prepared(step);

    constexpr std::size_t steps = 14;
    struct ending {
        std::size_t fails = computing; // the task; computing: none
        bool is_cancelled = false;
        int times = 0;
        error_code code = error_code::ok;
    };
    std::vector<ending> ends(steps);
    std::vector<cancellation_token> tokens(steps);
    for (std::size_t k = 0; k < steps; ++k) {
        world.after(std::chrono::milliseconds(200 * k + draws(200)), [&, k] { // now and then two at a time
            auto& e = ends[k];
            std::vector<any_array> feeds{filled({}, static_cast<float>(k + 1))};
            if (draws(3)) e.fails = draws(computing);
            for (std::size_t t = 0; t < computing; ++t) feeds.push_back(filled({t == e.fails ? 3 : 2}, 0));
            s->start(run, feeds, {.cancel = tokens[k]}, [&](const std::exception_ptr& p, const auto&) {
                ++e.times;
                if (p) e.code = rill::detail::described(p).first;
            });
            if (draws(4) == 0)
                world.after(std::chrono::milliseconds(draws(20)), [&, k] {
                    ends[k].is_cancelled = true;
                    tokens[k].cancel();
                });
        });
    }
    world.time.sleep(5s);
    std::size_t failed = 0;
    for (std::size_t k = 0; k < steps; ++k) {
        INFO("step " << k + 2 << " of the session");
        CHECK(ends[k].times == 1);
        if (ends[k].code == error_code::ok) {
            CHECK(ends[k].fails == computing);
            continue;
        }
        ++failed;
        if (ends[k].code == error_code::cancelled)
            CHECK(ends[k].is_cancelled);
        else
            CHECK((ends[k].code == error_code::invalid_argument && ends[k].fails < computing));
        auto problem_at = std::chrono::nanoseconds::max();
        const std::uint64_t number_of_step = k + 2; // after that of the initializers
        for (const auto& t : tasks)
            if (const auto& p = (*t->parts)[number_of_step]; p.has_failed) problem_at = std::min(problem_at, p.end);
        for (const auto& t : tasks) {
            const auto& p = (*t->parts)[number_of_step];
            CHECK(p.begins == p.ends);
            if (p.ends) CHECK(p.end - std::max(p.begin, problem_at) <= 100ms);
        }
    }
    if (failed == 0) FAIL("no step has failed");
    for (const auto& v : run_once(last)) CHECK(*static_cast<const float*>(v.data()) == 0);
    s->close("over");
    world.time.run();
    tasks.clear();
    world.time.run();
    return world.time.log;
}

TEST_CASE("cluster session: G13: a problem in a task wakes all of its step within 100 ms, and no step gets values of another",
          "[random]") {
    seeds::each(12, [](std::uint64_t seed) {
        const auto log = run_aborts(seed);
        CHECK(run_aborts(seed) == log);
    });
}

} // namespace test_cluster_session
