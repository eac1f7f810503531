// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/server.hpp>

#include <algorithm>
#include <filesystem>
#include <thread>

#include <rill/core/executor.hpp>
#include <rill/core/log.hpp>
#include <rill/core/platform.hpp>
#include <rill/distributed.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/queue/fifo_queue.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"
#include "distributed/eventually.hpp"
#if RILL_WITH_ZMQ
#include "distributed/lossy_net.hpp"
#endif
#include "distributed/simulated_cluster.hpp"
#if RILL_WITH_ZMQ && defined(__linux__)
#include "distributed/tcp_relay.hpp"
#endif
#include "seeds.hpp"
#include "watched.hpp"

using namespace rill;

namespace test_server {

using namespace std::chrono_literals;
using simulator::virtual_cluster;

constexpr std::size_t steps = 12;

template <class F> auto on(const char* device, F f) {
    const device_scope here(device);
    return f();
}

/// A graph over all tasks: step i adds a one to element i of a variable, and sends a value from task to task.
struct counting_graph {
    graph g;
    graph_scope use{g};
    placeholder<float> x{"x"};
    placeholder<float, steps> one{"one"};
    variable<float, steps> counts = on("/job:ps/task:0", [] { return variable<float, steps>("counts", 0.f); });
    variable<float> w = on("/job:ps/task:1", [] { return variable<float>("w", 1.f); });
    tensor<float> a = on("/job:worker/task:1", [&] { return tensor<float>(x * 3.f + w); });
    tensor<float> b = on("/job:ps/task:1", [&] { return tensor<float>(a * 2.f); });
    tensor<float> c = on("/job:worker/task:0", [&] { return tensor<float>(b + a); });
    tensor<float, steps> add = counts.assign_add(one);

    static float expected(float x) { return (3 * x + 1) * 3; }
};

struct ending {
    int times = 0;
    std::exception_ptr problem;
    float value = 0;
    environment::time_point at{}, deadline = environment::time_point::max();
    std::chrono::nanoseconds busy{}; // of the world when the step begins; then until it ends: time that does not count

    bool is_in_time() const { return deadline == environment::time_point::max() || at - busy <= deadline + 500ms; }
};

/// Steps at drawn times, while tasks are killed, frozen, slow or cut off. Returns the log.
std::string run_faults(std::uint64_t seed) {
    counting_graph m;
    virtual_cluster all(seed, {.reset_one_in = seed % 3 ? std::size_t(60) : 0,
                               .latency = std::chrono::microseconds(seed % 4 * 3000 + 100)});
    auto& draws = all.world.draws;
    session s(m.g, {.target = all.servers.at({"worker", 0})->target()});
    s.run(m.counts.initializer());
    s.run(m.w.initializer());
    std::vector<ending> ends(steps);
    const auto step = s.make_callable(std::tuple(m.c, m.add), m.x, m.one);
    for (std::size_t i = 0; i < steps; ++i)
        all.world.after(std::chrono::milliseconds(draws(4000)), [&, i] {
            std::vector<float> one(steps);
            one[i] = 1;
            auto& e = ends[i];
            e.busy = all.world.time.busy();
            const auto note_end = [&] {
                ++e.times;
                e.at = all.world.time.now();
                e.busy = all.world.time.busy() - e.busy;
            };
            run_options how;
            if (draws(2)) {
                how.timeout = std::chrono::milliseconds(1 + draws(3000));
                e.deadline = all.world.time.now() + how.timeout;
            }
            try {
                step.with(how).start(static_cast<float>(i), one, [&e, note_end](std::exception_ptr problem, auto values) {
                    e.problem = problem;
                    e.value = std::get<0>(values);
                    note_end();
                });
            } catch (...) {
                e.problem = std::current_exception();
                note_end();
            }
        });
    std::vector<std::uint64_t> incarnations; // of all lives
    for (const auto& [name, life] : all.servers) incarnations.push_back(life->incarnation());
    bool keeps_counts = true;
    for (auto left = draws(3); left > 0; --left) {
        const std::string job = draws(3) ? "ps" : "worker";
        const int task = job == "ps" ? static_cast<int>(draws(2)) : 1;
        const auto lasts = std::chrono::milliseconds(draws(8000));
        all.world.after(std::chrono::milliseconds(draws(4000)), [&, job, task, lasts] {
            if (!all.servers.contains({job, task})) return;
            auto& t = *all.tasks.at({job, task});
            const auto master = task_name("worker", 0), other = task_name(job, task);
            switch (draws(6)) {
            case 0:
                all.kill(job, task);
                if (job == "ps" && task == 0) keeps_counts = false;
                all.world.after(lasts, [&, job, task] {
                    all.start(job, task);
                    incarnations.push_back(all.servers.at({job, task})->incarnation());
                });
                break;
            case 1:
                all.world.freeze(t);
                all.world.after(lasts, [&] { all.world.thaw(t); });
                break;
            case 2:
                all.world.slow_down(t, std::chrono::milliseconds(draws(500)));
                all.world.after(lasts, [&] { all.world.slow_down(t, {}); });
                break;
            case 3:
                all.world.part_way(other, master, true);
                all.world.after(lasts, [&, master, other] { all.world.part_way(other, master, false); });
                break;
            case 4:
                all.world.part_way(master, other, true);
                all.world.after(lasts, [&, master, other] { all.world.part_way(master, other, false); });
                break;
            default:
                all.world.part(other, master, true);
                all.world.after(lasts, [&, master, other] { all.world.part(other, master, false); });
            }
        });
    }
    all.world.time.sleep(60s);
    std::vector<float> counts(steps);
    if (keeps_counts) {
        session reads(m.g, {.target = all.servers.at({"ps", 0})->target()});
        const auto now = reads.run(m.counts);
        std::copy(now.begin(), now.end(), counts.begin());
    }
    for (std::size_t i = 0; i < steps; ++i) {
        INFO("step " << i);
        CHECK(ends[i].times == 1);
        CHECK(ends[i].is_in_time());
        if (ends[i].problem) {
            const auto [code, text] = rill::detail::described(ends[i].problem);
            INFO(text);
            CHECK((code == error_code::unavailable || code == error_code::aborted ||
                   code == error_code::deadline_exceeded));
            CHECK_THAT(text, contains("/job:"));
            CHECK(std::ranges::any_of(incarnations, [&, in = std::string_view(text)](std::uint64_t n) {
                return in.find("incarnation " + std::to_string(n)) != in.npos ||
                       in.find("incarnation was " + std::to_string(n)) != in.npos;
            }));
            if (keeps_counts) CHECK(counts[i] <= 1);
        } else {
            CHECK(ends[i].value == counting_graph::expected(static_cast<float>(i)));
            if (keeps_counts) CHECK(counts[i] == 1);
        }
    }
    return all.world.time.log;
}

TEST_CASE("server: steps of a cluster run once and end, whatever fails", "[random]") {
    seeds::each(12, [](std::uint64_t seed) {
        const auto log = run_faults(seed);
        CHECK(run_faults(seed) == log);
    });
}

TEST_CASE("server: an error in one task wakes the others") {
    virtual_cluster all(1, {});
    graph g;
    graph_scope use(g);
    device_scope ps("/job:ps");
    const fifo_queue<tensor<float>> queue({.capacity = 1});
    const auto waits = queue.dequeue();
    placeholder<float, dyn> x("x"), y("y");
    tensor<float, dyn> bad;
    {
        device_scope on("/job:worker/task:1");
        bad = tensor<float, dyn>(x + y);
    }
    session s(g, {.target = all.servers.at({"worker", 0})->target()});
    const auto both = s.make_callable(std::tuple(waits, bad), x, y);
    std::exception_ptr problem;
    both.start(std::vector<float>{1, 2}, std::vector<float>{1, 2, 3}, [&](std::exception_ptr p, auto) { problem = p; });
    REQUIRE(all.world.time.wait_for([&] { return problem != nullptr; }, 100ms));
    CHECK_THROWS_AS(std::rethrow_exception(problem), invalid_argument);
    // the queue is as before
    placeholder<float> z("z");
    s.run(queue.enqueue(z), feed(z, 5.f));
    CHECK(s.run(waits) == 5.f);
}

TEST_CASE("server: a step that waits too long says for which edge of which task") {
    virtual_cluster all(3, {});
    graph g;
    graph_scope use(g);
    const fifo_queue<tensor<float>> queue = on("/job:ps", [] { return fifo_queue<tensor<float>>({.capacity = 1}); });
    const auto waits = on("/job:ps", [&] { return queue.dequeue(); });
    const tensor<float> twice(waits * 2.f);
    session s(g, {.target = all.servers.at({"worker", 0})->target()});
    std::exception_ptr problem;
    s.make_callable(std::tuple(twice)).with({.timeout = 3s}).start([&](std::exception_ptr p, auto) { problem = p; });
    all.world.time.sleep(4s);
    REQUIRE(problem);
    CHECK_THROWS_AS(std::rethrow_exception(problem), deadline_exceeded);
    const auto text = rill::detail::described(problem).second;
    INFO(text);
    const auto waiting = text.find("/job:worker/replica:0/task:0 (incarnation " +
                                   std::to_string(all.servers.at({"worker", 0})->incarnation()) +
                                   ") waits for edge 0 from /job:ps/replica:0/task:0 (incarnation " +
                                   std::to_string(all.servers.at({"ps", 0})->incarnation()) + "), last progress ");
    REQUIRE(waiting != std::string::npos);
    const auto progress = text.find("last progress ", waiting) + std::string_view("last progress ").size();
    const auto ms = std::stoi(text.substr(progress));
    CHECK((ms > 2500 && ms <= 3000)); // since the step began
    // the other task says what the queue's node waits for
    CHECK_THAT(text, contains("node '_x/receive_0', added between tasks") &&
                         contains("it waits for node '" + waits.node()->name + "', made at server.cpp:") &&
                         contains("waits for no other task"));
    try {
        std::rethrow_exception(problem);
    } catch (const error& e) {
        CHECK(e.task() == "/job:worker/replica:0/task:0");
    }
}

TEST_CASE("server: a step that makes no progress for 10 s is reported to the log, once for each peer") {
    std::vector<std::string> said;
    set_log_sink([&](log_level level, std::string_view text) {
        if (level == log_level::warning) said.emplace_back(text);
    });
    {
        virtual_cluster all(5, {});
        graph g;
        graph_scope use(g);
        const auto queue = on("/job:ps/task:0", [] { return fifo_queue<tensor<float>>({.capacity = 1}); });
        const auto waits = on("/job:ps/task:0", [&] { return queue.dequeue(); });
        const auto twice = on("/job:worker/task:1", [&] { return tensor<float>(waits * 2.f); });
        placeholder<float> x("x");
        const auto put = on("/job:ps/task:0", [&] { return queue.enqueue(x); });
        session s(g, {.target = all.servers.at({"worker", 0})->target()});
        float value = 0;
        s.make_callable(std::tuple(twice)).start([&](std::exception_ptr, auto v) { value = std::get<0>(v); });
        all.world.time.sleep(9s);
        CHECK(said.empty());
        all.world.time.sleep(30s);
        const auto told = [&](const std::string& task, const std::string& what) {
            const auto life = all.servers.at({task.substr(0, task.find('/')), task.back() - '0'})->incarnation();
            const auto name = task_name(task.substr(0, task.find('/')), task.back() - '0');
            return std::ranges::count_if(said, [&](const std::string& text) {
                return text.find("/job:worker/replica:0/task:0 waits for run_part of " + name + " (incarnation " +
                                 std::to_string(life) + ")") == 0 &&
                       text.find("last progress 1") != text.npos && text.find(what) != text.npos;
            });
        };
        CHECK(told("ps/0", "its step 1 waits for no other task") == 1);
        CHECK(told("worker/1", "its step 1 waits for edge 0 from /job:ps/replica:0/task:0") == 1);
        s.run(put, feed(x, 4.f));
        all.world.time.sleep(1s);
        CHECK(value == 8.f);
        CHECK(said.size() == 2);
    }
    set_log_sink({});
}

TEST_CASE("server: the root of a problem counts before what follows from it") {
    virtual_cluster all(6, {});
    graph g;
    graph_scope use(g);
    const auto queue = on("/job:ps/task:0", [] { return fifo_queue<tensor<float>>({.capacity = 1}); });
    placeholder<float> x("x");
    const auto put = on("/job:ps/task:0", [&] { return queue.enqueue(x); });
    const auto close = on("/job:ps/task:0", [&] { return queue.close({.cancel_pending_enqueues = true}); });
    placeholder<float, dyn> a("a"), b("b");
    const auto bad = on("/job:worker/task:1", [&] { return tensor<float, dyn>(a + b); });
    session s(g, {.target = all.servers.at({"worker", 0})->target()});
    s.run(put, feed(x, 1.f)); // full
    std::exception_ptr problem;
    const auto both = s.make_callable(std::tuple(put, bad), x, a, b);
    const auto closes = s.make_callable(std::tuple(close));
    // one part is cancelled while the other one's error is under way
    all.world.slow_down(*all.tasks.at({"worker", 1}), 30ms);
    both.start(2.f, std::vector<float>{1, 2}, std::vector<float>{1, 2, 3},
               [&](std::exception_ptr p, auto) { problem = p; });
    all.world.time.settle(45ms);
    closes.start([](std::exception_ptr, auto) {});
    REQUIRE(all.world.time.wait_for([&] { return problem != nullptr; }, 1s));
    CHECK_THROWS_AS(std::rethrow_exception(problem), invalid_argument);
}

TEST_CASE("server: a run is cancelled by its token, and when its session closes") {
    virtual_cluster all(2, {});
    graph g;
    graph_scope use(g);
    device_scope ps("/job:ps/task:1");
    const fifo_queue<tensor<float>> queue({.capacity = 1});
    const auto waits = queue.dequeue();
    session s(g, {.target = all.servers.at({"worker", 0})->target()});
    const auto call = s.make_callable(std::tuple(waits));
    for (const bool closes : {false, true}) {
        std::exception_ptr problem;
        const cancellation_token token;
        call.with({.cancel = token}).start([&](std::exception_ptr p, auto) { problem = p; });
        all.world.time.settle(50ms);
        CHECK_FALSE(problem);
        if (closes)
            s.close();
        else
            token.cancel();
        REQUIRE(all.world.time.wait_for([&] { return problem != nullptr; }, 200ms));
        CHECK_THROWS_AS(std::rethrow_exception(problem), cancelled);
    }
}

std::string run_late_start(std::uint64_t seed) {
    simulator::simulated_world world(seed);
    const cluster_spec spec{{"ps", {"late/ps"}}, {"worker", {"late/worker"}}};
    std::vector<std::unique_ptr<server>> servers;
    const auto start = [&](const std::string& job) {
        auto& env = world.start(task_name(job, 0));
        servers.push_back(std::make_unique<server>(
            spec, job, 0,
            server_options{.net = std::make_shared<simulator::simulated_net>(world, env), .environment = &env}));
    };
    start("worker");
    const auto late = std::chrono::milliseconds(world.draws(29000));
    world.after(late, [&] { start("ps"); });
    graph g;
    graph_scope use(g);
    const auto w = on("/job:ps", [] { return variable<float>("w", 1.f); });
    session s({.target = servers[0]->target()});
    s.run(w.initializer()); // waits for the other task
    CHECK(world.time.now().time_since_epoch() < late + 10s);
    CHECK(s.run(w) == 1.f);
    s.close();
    world.time.run();
    servers.clear();
    world.time.run();
    return world.time.log;
}

TEST_CASE("server: tasks may start in any order", "[random]") {
    seeds::each(6, [](std::uint64_t seed) {
        const auto log = run_late_start(seed);
        CHECK(run_late_start(seed) == log);
    });
}

TEST_CASE("server: a task that does not start ends the run in time, by name") {
    simulator::simulated_world world(7);
    auto& env = world.start("worker");
    server node(cluster_spec{{"ps", {"never/ps"}}, {"worker", {"never/worker"}}}, "worker", 0,
                {.net = std::make_shared<simulator::simulated_net>(world, env), .environment = &env});
    graph g;
    graph_scope use(g);
    const auto w = on("/job:ps", [] { return variable<float>("w", 1.f); });
    session s({.target = node.target()});
    CHECK_THROWS_WITH(s.run(w.initializer()), contains("/job:ps/replica:0/task:0"));
    CHECK(world.time.now().time_since_epoch() < 40s);
    const auto devices = s.devices(); // does not wait so long
    CHECK(world.time.now().time_since_epoch() < 50s);
    CHECK((devices[0].memory > 0 && devices[1].memory == 0)); // unknown
    CHECK(node.health("ps", 0) == peer_health::connecting);
}

#if RILL_WITH_ZMQ

TEST_CASE("server: G6: over a network that loses messages every update runs once") {
    const auto at = free_addresses(2);
    const cluster_spec spec{{"ps", {at[0]}}, {"worker", {at[1]}}};
    const auto first = std::make_shared<lossy_net>(3, 12), second = std::make_shared<lossy_net>(4, 12);
    const server ps(spec, "ps", 0, {.net = first}), worker(spec, "worker", 0, {.net = second});
    const graph g;
    const graph_scope use(g);
    const auto [w, add] = on("/job:ps/task:0", [] {
        const variable<float, 3> v("v", 0.f);
        return std::pair(v, operation(v.assign_add({1.f, 2.f, 3.f}).node()));
    });
    const session s({.target = worker.target()});
    s.run(global_variables_initializer());
    constexpr int updates = 40;
    for (int i = 0; i < updates; ++i) s.run(add);
    const auto sum = s.run(w);
    CHECK((sum(0) == updates && sum(1) == 2 * updates && sum(2) == 3 * updates));
    CHECK(first->lost + second->lost > 0);
}

#if defined(__linux__)
TEST_CASE("server: G6: over connections that a relay cuts every update runs once", "[random][real_time]") {
    seeds::each(2, [](std::uint64_t seed) {
        const auto at = free_addresses(2);
        const cluster_spec spec{{"ps", {at[0]}}, {"worker", {at[1]}}};
        const auto first = std::make_shared<relayed_net>(seed, 12'000),
                   second = std::make_shared<relayed_net>(seed + 1000, 12'000);
        const server ps(spec, "ps", 0, {.net = first}), worker(spec, "worker", 0, {.net = second});
        const graph g;
        const graph_scope use(g);
        const auto [w, add] = on("/job:ps/task:0", [] {
            const variable<float, 3> v("v", 0.f);
            return std::pair(v, operation(v.assign_add({1.f, 2.f, 3.f}).node()));
        });
        const session s({.target = worker.target()});
        s.run(global_variables_initializer());
        int updates = 0; // until some connections were cut
        while (updates < 40 || (first->cuts() + second->cuts() < 3 && updates < 2000)) {
            s.run(add);
            ++updates;
        }
        const auto sum = s.run(w);
        const auto n = static_cast<float>(updates);
        CHECK((sum(0) == n && sum(1) == 2 * n && sum(2) == 3 * n));
        CHECK(first->cuts() + second->cuts() >= 3);
    });
}
#endif

TEST_CASE("server: long values come and go by its address for data") {
    const auto data_address = free_addresses(1)[0];
    const auto node = create_local_server({.data_address = data_address});
    CHECK_THROWS_AS(create_local_server({.data_address = data_address}), already_exists);
    const graph g;
    const graph_scope use(g);
    const placeholder<float, dyn> x("x");
    const tensor twice = x + x;
    const session s({.target = node.target()});
    xt::xtensor<float, 1> long_value = xt::arange<float>(0, 700'000);
    for (int i = 0; i < 3; ++i) CHECK((s.run(twice, feed(x, long_value)) == 2.f * long_value));
}

#endif

#if RILL_WITH_ZMQ && defined(__linux__)

/// The threads and open files of this process.
struct held_by_process {
    static std::size_t entries(const char* directory) {
        std::size_t n = 0;
        for (auto at = std::filesystem::directory_iterator(directory); at != std::filesystem::directory_iterator();
             ++at)
            ++n;
        return n;
    }
    std::size_t threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
};

/// Starts the threads that the environment has for tasks which wait: otherwise one may start in any round, and stays.
void start_threads() {
    const auto begun = std::make_shared<watched<int>>(), ended = std::make_shared<watched<int>>();
    const int all = detail::usable_processors() + 2;
    for (int i = 0; i < all; ++i)
        environment::real().post([=] {
            const detail::executor::blocked_thread here;
            begun->change([](int& n) { ++n; });
            begun->comes([&](int n) { return n == all; });
            ended->change([](int& n) { ++n; });
        });
    CHECK(ended->comes([&](int n) { return n == all; }));
}

TEST_CASE("server: G11: servers that stop or are killed leave no thread and no file open") {
    const auto round = [](bool kills) {
        const auto at = free_addresses(2);
        const cluster_spec spec{{"ps", {at[0]}}, {"worker", {at[1]}}};
        server ps(spec, "ps", 0), worker(spec, "worker", 0);
        const graph g;
        const graph_scope use(g);
        const auto make_queue = [] { return fifo_queue<tensor<float>>({.capacity = 1}); };
        const auto queue = on("/job:ps", make_queue), begun = on("/job:ps", make_queue);
        const auto waits = on("/job:ps", [&] {
            const control_dependencies after(begun.enqueue(1.f));
            return queue.dequeue();
        });
        const auto is_busy = on("/job:ps", [&] { return begun.dequeue(); });
        const tensor<float> twice(waits * 2.f);
        watched<bool> ended;
        const session s({.target = worker.target()});
        s.make_callable(std::tuple(twice)).start([&](const std::exception_ptr&, const auto&) { ended.set(true); });
        s.run(is_busy, {.timeout = 20s}); // the tasks are in the step
        if (kills) ps.kill();
        worker.stop();
        CHECK(ended.comes([](bool is) { return is; }));
    };
    start_threads();
    for (const bool kills : {false, true}) round(kills); // starts the threads that stay: of pools, and of the clock
    const held_by_process before;
    const auto rounds = seeds::from_environment("RILL_ROUNDS", 6);
    for (std::uint64_t i = 0; i < rounds; ++i) round(i % 2);
    held_by_process after;
    eventually([&] { // the threads that end connections may still run
        after = {};
        return after.threads <= before.threads && after.files <= before.files;
    });
    CHECK(after.threads <= before.threads);
    CHECK(after.files <= before.files);
}

#endif

TEST_CASE("server: join returns when another thread stops the server") {
    server node(cluster_spec{{"worker", {"test_server/join"}}}, "worker", 0);
    CHECK_THROWS_AS((server(cluster_spec{{"worker", {"test_server/join"}}}, "worker", 0)), already_exists);
    std::thread other([&] { node.stop(); });
    node.join();
    other.join();
    graph g;
    CHECK_THROWS_AS(session(g, {.target = node.target()}), unavailable);
}

} // namespace test_server
