// SPDX-License-Identifier: BSD-3-Clause
// Tasks in processes of their own, which are killed, frozen and started again. The test program starts itself as a parameter server.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include <rill/distributed.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"
#include "distributed/watchdog.hpp"
#include "seeds.hpp"

#if RILL_WITH_ZMQ && defined(__linux__)
using namespace rill;

namespace test_processes {

using namespace std::chrono_literals;

constexpr health_options fast{.heartbeat = 50ms, .slow = 300ms, .suspect = 600ms, .dead = 1200ms, .connect = 10s};

/// Returns how often a test repeats its faults: RILL_ROUNDS, which `make soak` sets.
std::uint64_t rounds() { return seeds::from_environment("RILL_ROUNDS", 1); }

cluster_spec spec_of(const std::string& ps, const std::string& worker) { return {{"ps", {ps}}, {"worker", {worker}}}; }

TEST_CASE("processes: the parameter server of the other tests", "[.]") {
    const char *const ps = std::getenv("RILL_TEST_PS"), *const worker = std::getenv("RILL_TEST_WORKER");
    if (!ps || !worker) return;
    server node(spec_of(ps, worker), "ps", 0, {.health = fast});
    node.join();
}

/// A worker in this process, and a parameter server with a counter in another.
struct two_processes {
    two_processes() { start(); }
    void start() {
        ps = std::make_unique<child_process>(
            "/proc/self/exe", std::vector<std::string>{"processes: the parameter server of the other tests"},
            std::vector<std::pair<std::string, std::string>>{{"RILL_TEST_PS", at[0]}, {"RILL_TEST_WORKER", at[1]}});
    }
    session open() { return session(g, {.target = worker.target()}); }

    std::vector<std::string> at = free_addresses(2);
    std::unique_ptr<child_process> ps;
    server worker{spec_of(at[0], at[1]), "worker", 0, {.health = fast}};
    graph g;
    graph_scope use{g};
    variable<float> count = [] {
        device_scope on("/job:ps");
        return variable<float>("count", 0.f);
    }();
    tensor<float> next = [this] {
        device_scope on("/job:worker");
        return tensor<float>(count + 1.f);
    }();
    tensor<float> step = count.assign(next);
};

/// Checks that a call throws an E that names the parameter server, within a few seconds.
template <class E> void check_fails(const std::function<void()>& f) {
    const auto begin = std::chrono::steady_clock::now();
    try {
        f();
        FAIL_CHECK("it does not throw");
    } catch (const E& e) {
        CHECK_THAT(e.what(), contains("/job:ps/replica:0/task:0"));
    }
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
}

TEST_CASE("processes: one that is killed, and starts again") {
    two_processes all;
    const auto s = all.open();
    s.run(all.count.initializer()); // waits until the process has started
    for (int i = 0; i < 5; ++i) s.run(all.step);
    CHECK(s.run(all.count) == 5.f);
    all.ps->end();
    check_fails<unavailable>([&] { s.run(all.step); });
    all.start();
    check_fails<aborted>([&] {
        for (int i = 0; i < 20; ++i) { // until the new process is there
            try {
                s.run(all.step, {.timeout = 2s});
            } catch (const deadline_exceeded&) {}
        }
    });
    const auto again = all.open();
    CHECK_THROWS_AS(again.run(all.step), failed_precondition); // its state is lost, which is said
    again.run(all.count.initializer());
    again.run(all.step);
    CHECK(again.run(all.count) == 1.f);
}

TEST_CASE("processes: one that stands still is given up in time, and no step runs twice") {
    two_processes all;
    const auto s = all.open();
    s.run(all.count.initializer());
    std::jthread freezes([&] { // for less than the time in which a peer counts as dead
        for (auto left = 4 * rounds(); left > 0; --left) {
            std::this_thread::sleep_for(30ms);
            all.ps->freeze();
            std::this_thread::sleep_for(200ms);
            all.ps->thaw();
        }
    });
    float done = 0;
    for (auto left = 400 * rounds(); left > 0; --left, ++done) s.run(all.step);
    freezes.join();
    CHECK(s.run(all.count) == done);
    all.ps->freeze();
    check_fails<unavailable>([&] { s.run(all.step); });
    all.ps->thaw();
    const auto after = all.open().run(all.count);
    CHECK((after == done || after == done + 1)); // the step that failed has run once or not at all
}

TEST_CASE("processes: a task of the clusters of other tests", "[.]") {
    const char *const addresses = std::getenv("RILL_TEST_TASKS"), *const job = std::getenv("RILL_TEST_JOB"),
                      *const number = std::getenv("RILL_TEST_TASK");
    if (!addresses || !job || !number) return;
    std::vector<std::string> at;
    for (const char* c = addresses; *c; ++c) {
        if (c == addresses || c[-1] == ' ') at.emplace_back();
        if (*c != ' ') at.back() += *c;
    }
    const cluster_spec spec{{"ps", {at.at(0)}}, {"worker", {at.at(1), at.at(2)}}};
    auto health = fast;
    if (const char* const ms = std::getenv("RILL_TEST_CONNECT"))
        health.connect = std::chrono::milliseconds(std::atoi(ms));
    server node(spec, job, std::atoi(number), {.health = health});
    node.join();
}

/// Three tasks, each a process: a parameter server with a counter, a worker that is the master of the client's sessions, and one that computes
/// the counter's next value.
struct three_processes {
    enum task { ps, master, worker };
    static constexpr const char* names[] = {"/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0",
                                            "/job:worker/replica:0/task:1"};

    /// `connect`: how long the task waits for one that has not started.
    void start(task t, std::chrono::milliseconds connect = fast.connect) {
        processes[t] = std::make_unique<child_process>(
            "/proc/self/exe", std::vector<std::string>{"processes: a task of the clusters of other tests"},
            std::vector<std::pair<std::string, std::string>>{{"RILL_TEST_TASKS", at[0] + " " + at[1] + " " + at[2]},
                                                             {"RILL_TEST_JOB", t == ps ? "ps" : "worker"},
                                                             {"RILL_TEST_TASK", t == worker ? "1" : "0"},
                                                             {"RILL_TEST_CONNECT", std::to_string(connect.count())}});
    }
    void start_all() {
        for (const task t : {ps, master, worker}) start(t);
    }
    /// Opens a session at a task, as soon as that serves.
    std::unique_ptr<session> open(task at_task = master) const {
        const watchdog here("a session is opened");
        for (int tries = 0;; ++tries) {
            try {
                return std::make_unique<session>(g, session_options{.target = "tcp://" + at[at_task]});
            } catch (const unavailable&) {
                if (tries == 5) throw;
            }
        }
    }

    std::vector<std::string> at = free_addresses(3);
    std::map<task, std::unique_ptr<child_process>> processes;
    graph g;
    graph_scope use{g};
    variable<float> count = [] {
        device_scope on("/job:ps");
        return variable<float>("count", 0.f);
    }();
    tensor<float> next = [this] {
        device_scope on("/job:worker/task:1");
        return tensor<float>(count + 1.f);
    }();
    tensor<float> step = count.assign(next);
};

/// Runs steps until one fails, and returns how many did not. The error must name the task.
int steps_until_error(const session& s, const three_processes& all, const std::string& name) {
    for (int done = 0; done < 200; ++done) {
        const watchdog here("a step whose " + name + " may be gone");
        const auto begin = std::chrono::steady_clock::now();
        try {
            s.run(all.step, {.timeout = 8s});
        } catch (const error& e) {
            INFO(e.what());
            CHECK((e.code() == error_code::unavailable || e.code() == error_code::aborted));
            CHECK_THAT(e.what(), contains(name));
            CHECK(std::chrono::steady_clock::now() - begin < 8s);
            return done;
        }
    }
    FAIL_CHECK("no step fails");
    return 200;
}

/// Does harm to a task of a cluster. Its calls end with the name of the task, and a new session goes on.
void survives(three_processes::task victim, const std::string& fault) {
    using tasks = three_processes;
    INFO(tasks::names[victim] << " is " << fault);
    tasks all;
    all.start_all();
    auto s = all.open();
    {
        const watchdog here("the first run");
        s->run(all.count.initializer()); // waits until all have started
    }
    for (int i = 0; i < 3; ++i) s->run(all.step);
    auto& process = *all.processes[victim];
    if (fault == "slow") { // it stands still, but not for long: nothing fails, and no step runs twice
        std::jthread pauses([&] {
            for (int i = 0; i < 5; ++i) {
                process.freeze();
                std::this_thread::sleep_for(250ms);
                process.thaw();
                std::this_thread::sleep_for(50ms);
            }
        });
        float done = 3;
        for (int i = 0; i < 60; ++i, ++done) {
            const watchdog here("a step with a slow task");
            s->run(all.step);
        }
        pauses.join();
        CHECK(s->run(all.count) == done);
        return;
    }
    if (fault == "killed") process.end();
    if (fault == "frozen") process.freeze();
    if (fault == "started again") {
        process.end();
        all.start(victim);
    }
    CHECK(steps_until_error(*s, all, tasks::names[victim]) <= 1);
    if (fault == "killed") all.start(victim);
    if (fault == "frozen") process.thaw();
    {
        const watchdog here("the old session ends");
        s.reset();
    }
    const watchdog here("a new session goes on");
    for (int tries = 0; tries < 10; ++tries) try { // until the others know of the new life
            s = all.open();
            s->run(all.count.initializer(), {.timeout = 4s});
            s->run(all.step, {.timeout = 4s});
            break;
        } catch (const error& e) {
            CHECK((e.code() == error_code::unavailable || e.code() == error_code::aborted ||
                   e.code() == error_code::deadline_exceeded));
        }
    CHECK(s->run(all.count) == 1.f);
}

TEST_CASE("processes: whoever is killed, frozen or started again, calls end with its name, and new sessions go on") {
    using tasks = three_processes;
    for (auto left = rounds(); left > 0; --left)
        for (const auto victim : {tasks::ps, tasks::worker, tasks::master})
            for (const auto* const fault : {"killed", "frozen", "started again", "slow"}) survives(victim, fault);
}

TEST_CASE("processes: tasks start in any order, and one that is missing is named") {
    using tasks = three_processes;
    std::vector<std::vector<tasks::task>> orders{{tasks::worker, tasks::ps, tasks::master},
                                                 {tasks::master, tasks::worker, tasks::ps}};
    seeds::draws draws(seeds::from_environment("RILL_FIRST_SEED", 1));
    while (orders.size() < rounds()) {
        const auto first = draws(3), second = (first + 1 + draws(2)) % 3;
        orders.push_back({});
        for (const auto t : {first, second, 3 - first - second}) orders.back().push_back(static_cast<tasks::task>(t));
    }
    for (const auto& order : orders) {
        tasks all;
        for (const auto t : order) { // in this thread: a child ends with the thread that started it
            all.start(t);
            (void)all.open(t); // it serves before the next one starts
        }
        const auto s = all.open();
        const watchdog here("the first step of a cluster that starts");
        s->run(all.count.initializer());
        s->run(all.step);
        CHECK(s->run(all.count) == 1.f);
    }
    tasks all;
    all.start(tasks::ps);
    (void)all.open(tasks::ps); // only the worker is awaited below
    all.start(tasks::master, 2s);
    const watchdog here("a session whose cluster lacks a task", 100s);
    try {
        const session s(all.g, {.target = "tcp://" + all.at[1]});
        s.run(all.step);
        FAIL_CHECK("the step runs without its worker");
    } catch (const error& e) {
        INFO(e.what());
        CHECK((e.code() == error_code::unavailable || e.code() == error_code::deadline_exceeded));
        CHECK_THAT(e.what(), contains(tasks::names[tasks::worker]));
    }
}

TEST_CASE("processes: sessions and servers end in time though their peers are dead") {
    for (auto left = rounds(); left > 0; --left) {
        two_processes all;
        auto s = std::make_unique<session>(all.g, session_options{.target = all.worker.target()});
        s->run(all.count.initializer());
        s->run(all.step);
        all.ps->end();
        {
            const watchdog here("a session with a dead peer is closed", 10s);
            s.reset();
        }
        {
            const watchdog here("containers are reset at a dead peer", 20s);
            CHECK_THROWS_AS(session::reset(all.worker.target(), {}, 3s), error);
        }
        const watchdog here("a server with a dead peer stops", 10s);
        all.worker.stop();
    }
}

} // namespace test_processes
#endif
