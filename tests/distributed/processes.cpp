// SPDX-License-Identifier: BSD-3-Clause
// Tasks in processes of their own, which are killed, frozen and started again. The test program starts itself as a parameter server.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include <rill/distributed.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"

#if RILL_WITH_ZMQ && defined(__linux__)
using namespace rill;

namespace test_processes {

using namespace std::chrono_literals;

constexpr health_options fast{.heartbeat = 50ms, .slow = 300ms, .suspect = 600ms, .dead = 1200ms, .connect = 10s};

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
    std::thread freezes([&] { // for less than the time in which a peer counts as dead
        for (int i = 0; i < 4; ++i) {
            std::this_thread::sleep_for(30ms);
            all.ps->freeze();
            std::this_thread::sleep_for(200ms);
            all.ps->thaw();
        }
    });
    float done = 0;
    while (done < 400.f) {
        s.run(all.step);
        ++done;
    }
    freezes.join();
    CHECK(s.run(all.count) == done);
    all.ps->freeze();
    check_fails<unavailable>([&] { s.run(all.step); });
    all.ps->thaw();
    const auto after = all.open().run(all.count);
    CHECK((after == done || after == done + 1)); // the step that failed has run once or not at all
}

} // namespace test_processes
#endif
