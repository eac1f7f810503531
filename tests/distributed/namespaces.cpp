// SPDX-License-Identifier: BSD-3-Clause
// Two tasks in network namespaces of their own, joined by one link, which is cut: namespaces.py makes the namespaces and starts this
// program twice in them.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <rill/distributed.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "catch.hpp"

#if RILL_WITH_ZMQ && defined(__linux__)
using namespace rill;

namespace test_namespaces {

using namespace std::chrono_literals;

const server_options fast{
    .security = insecure, // no other machine is in reach
    .health = {.heartbeat = 50ms, .slow = 300ms, .suspect = 600ms, .dead = 1200ms, .connect = 10s}};

const char* address_of(const char* job) {
    return std::getenv(std::string(job) == "ps" ? "RILL_TEST_PS" : "RILL_TEST_WORKER");
}
cluster_spec spec() { return {{"ps", {address_of("ps")}}, {"worker", {address_of("worker")}}}; }

TEST_CASE("namespaces: the parameter server of the other test", "[.]") {
    if (!address_of("ps") || !address_of("worker")) return;
    server node(spec(), "ps", 0, fast);
    node.join();
}

/// A way to cut the link of this namespace, and to mend it: commands of the shell.
struct cut {
    const char *name, *cuts, *mends;
};

TEST_CASE("namespaces: a worker whose link is cut", "[.]") {
    if (!address_of("ps") || !address_of("worker")) return;
    const std::string ps = address_of("ps"), host = ps.substr(0, ps.find(':'));
    const std::string blackhole = "ip route add blackhole " + host + "/32",
                      no_blackhole = "ip route del blackhole " + host + "/32";
    const cut cuts[] = {{"the link is down", "ip link set rill1 down", "ip link set rill1 up"},
                        {"nothing gets to the server", blackhole.c_str(), no_blackhole.c_str()}};
    const server node(spec(), "worker", 0, fast);
    const graph g;
    const graph_scope use(g);
    const variable<float> count = [] {
        const device_scope on("/job:ps");
        return variable<float>("count", 0.f);
    }();
    const tensor<float> next = [&] {
        const device_scope on("/job:worker");
        return tensor<float>(count + 1.f);
    }();
    const auto step = count.assign(next);
    const session s(session_options{.target = node.target()});
    s.run(count.initializer()); // waits until the other process has started
    float done = 0;
    for (const auto& [name, cuts_it, mends_it] : cuts) {
        INFO(name);
        for (int i = 0; i < 5; ++i) s.run(step);
        REQUIRE(s.run(count) == done + 5);
        REQUIRE(std::system(cuts_it) == 0);
        for (const auto timeout : {10s, 1s}) { // the first call finds the server dead, the second one waits for it
            const auto begin = std::chrono::steady_clock::now();
            try {
                s.run(step, {.timeout = timeout});
                FAIL_CHECK("a step runs without its server");
            } catch (const error& e) {
                INFO(e.what());
                CHECK((e.code() == error_code::unavailable || e.code() == error_code::deadline_exceeded));
                CHECK_THAT(e.what(), contains("/job:ps/replica:0/task:0"));
            }
            CHECK(std::chrono::steady_clock::now() - begin < timeout + 2s);
        }
        CHECK(node.health("ps", 0) == peer_health::dead);
        REQUIRE(std::system(mends_it) == 0);
        float after = -1;
        for (int tries = 0; tries < 20 && after < 0; ++tries) try { // until the connection is made again
                after = s.run(count, {.timeout = 2s});
            } catch (const error& e) {
                INFO(e.what());
                CHECK((e.code() == error_code::unavailable || e.code() == error_code::deadline_exceeded));
            }
        CHECK((after >= done + 5 && after <= done + 7)); // each step that failed has run once or not at all
        s.run(step);
        done = s.run(count);
        CHECK(done == after + 1);
        std::printf("passed: %s\n", name); // namespaces.py looks for it
    }
}

} // namespace test_namespaces
#endif
