// SPDX-License-Identifier: BSD-3-Clause
// Clusters in virtual time: their start, their end, and queues that several clients use. G10, G11, G12.
#include <rill/distributed/cluster_session.hpp>

#include <set>

#include <rill/distributed.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
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
    all.world.time.sleep(1s);
    CHECK(ended == 6);
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

/// Clients that put numbers into a queue and take them out, with timeouts and cancellations, on a network that breaks connections.
std::string run_queue(std::uint64_t seed) {
    virtual_cluster all(seed, {.reset_one_in = seed % 2 ? std::size_t(80) : 0,
                               .latency = std::chrono::microseconds(seed % 3 * 5000 + 100)});
    auto& draws = all.world.draws;
    graph g;
    graph_scope use(g);
    const device_scope ps("/job:ps/task:0");
    placeholder<float> x("x");
    const fifo_queue<tensor<float>> queue({.capacity = 3});
    const auto put = queue.enqueue(x);
    const auto take = queue.dequeue();
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
        bool is_put = false;
        std::exception_ptr problem;
        float value = 0;
        environment::time_point deadline = environment::time_point::max(), at{};
    };
    constexpr std::size_t calls = 30;
    std::vector<ending> ends(calls);
    std::vector<cancellation_token> tokens(calls);
    using put_call = decltype(sessions[0]->make_callable(std::tuple(put), x));
    using take_call = decltype(sessions[0]->make_callable(std::tuple(take)));
    std::vector<put_call> puts;
    std::vector<take_call> takes;
    for (const auto& s : sessions) {
        puts.push_back(s->make_callable(std::tuple(put), x));
        takes.push_back(s->make_callable(std::tuple(take)));
    }
    for (std::size_t i = 0; i < calls; ++i) {
        ends[i].is_put = draws(2);
        all.world.after(std::chrono::milliseconds(draws(3000)), [&, i] {
            auto& e = ends[i];
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
            };
            if (e.is_put)
                puts[who].with(how).start(static_cast<float>(i),
                                          [note](const std::exception_ptr& p, const auto&) { note(p); });
            else
                takes[who].with(how).start([note, &e](const std::exception_ptr& p, const auto& values) {
                    if (!p) e.value = std::get<0>(values);
                    note(p);
                });
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
        CHECK(left.insert(first.run(take, run_options{.timeout = 5s})).second);
        all.world.time.sleep(500ms);
    }
    for (float extra = 1000; waiting(false); ++extra) {
        first.run(put, feed(x, extra), {.timeout = 5s});
        all.world.time.sleep(500ms);
    }
    for (auto n = first.run(size); n > 0; --n) CHECK(left.insert(first.run(take)).second);
    std::size_t lost = 0;
    for (const auto& e : ends) {
        CHECK(e.times == 1);
        CHECK((e.deadline == environment::time_point::max() || e.at < e.deadline + 500ms));
        if (e.is_put) continue;
        if (e.problem)
            ++lost; // it may have taken one
        else
            CHECK(out.insert(e.value).second);
    }
    std::size_t gone = 0;
    for (std::size_t i = 0; i < calls; ++i) {
        const auto v = static_cast<float>(i);
        if (!ends[i].is_put) CHECK_FALSE((out.contains(v) || left.contains(v)));
        if (ends[i].is_put && !ends[i].problem) gone += !out.contains(v) && !left.contains(v);
    }
    CHECK(gone <= lost);
    first.run(close);
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

} // namespace test_cluster_session
