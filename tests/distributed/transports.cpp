// SPDX-License-Identifier: BSD-3-Clause
#include <rill/distributed/transports.hpp>

#include <thread>

#include <rill/distributed.hpp>
#include <rill/distributed/zmq_transport.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/state/writes.hpp>

#include "../../examples/child_process.hpp"
#include "catch.hpp"

#if RILL_WITH_ZMQ
using namespace rill;

namespace test_transports {

using namespace std::chrono_literals;

constexpr health_options fast{.heartbeat = 30ms, .slow = 200ms, .suspect = 400ms, .dead = 800ms, .connect = 1500ms};

/// A parameter server and a worker, joined by sockets.
struct network_cluster {
    explicit network_cluster(const server_options& of_ps = {.health = fast},
                             const server_options& of_worker = {.health = fast})
        : addresses(free_addresses(2)), spec{{"ps", {addresses[0]}}, {"worker", {addresses[1]}}},
          ps(std::make_unique<server>(spec, "ps", 0, of_ps)),
          worker(std::make_unique<server>(spec, "worker", 0, of_worker)) {}

    std::vector<std::string> addresses;
    cluster_spec spec;
    std::unique_ptr<server> ps, worker;
};

/// w lies on the parameter server, and each step crosses twice.
struct counting_graph {
    graph g;
    graph_scope use{g};
    placeholder<float, dyn> x{"x"};
    variable<float, 40> w = [] {
        device_scope on("/job:ps");
        return variable<float, 40>("w", 1.f);
    }();
    tensor<float, 40> next = [this] {
        device_scope on("/job:worker");
        return tensor<float, 40>(w * 2.f + 1.f);
    }();
    tensor<float, dyn> twice = [this] {
        device_scope on("/job:ps");
        return tensor<float, dyn>(x * 2.f);
    }();
    tensor<float, 40> step = w.assign(next);
};

TEST_CASE("transports: the form of an address chooses") {
    CHECK(dynamic_cast<zmq_transport*>(detail::make_transport("127.0.0.1:1", {}).get()));
    CHECK(dynamic_cast<zmq_transport*>(detail::make_transport("tcp://127.0.0.1:1", {}).get()));
    CHECK_FALSE(dynamic_cast<zmq_transport*>(detail::make_transport("local://name", {}).get()));
    CHECK_FALSE(dynamic_cast<zmq_transport*>(detail::make_transport("name", {}).get()));
}

TEST_CASE("transports: steps, values of many frames and errors cross between sockets") {
    network_cluster all;
    CHECK(all.worker->target() == "tcp://" + all.addresses[1]);
    counting_graph m;
    session s(m.g, {.target = "zmq://" + all.addresses[1]});
    s.run(m.w.initializer());
    for (int i = 0; i < 10; ++i) s.run(m.step);
    CHECK(s.run(m.w)[7] == 2047.f);
    const std::vector<float> large(3'000'000, 1.5f); // twelve frames
    const auto doubled = s.run(m.twice, feed(m.x, large));
    CHECK(doubled.size() == large.size());
    CHECK(doubled(2'999'999) == 3.f);
    const auto incarnation = std::to_string(all.ps->incarnation());
    all.ps->kill();
    CHECK_THROWS_AS(s.run(m.step), unavailable);
    CHECK_THROWS_WITH(s.run(m.step, {.timeout = 300ms}), contains("/job:ps/replica:0/task:0") && contains(incarnation));
    all.ps = std::make_unique<server>(all.spec, "ps", 0, server_options{.health = fast});
    CHECK_THROWS_AS(s.run(m.step), aborted);
    session again(m.g, {.target = all.worker->target()});
    again.run(m.w.initializer());
    again.run(m.step);
    CHECK(again.run(m.w)[0] == 3.f);
    all.ps->stop();
    CHECK_THROWS_AS(again.run(m.step), unavailable);
}

TEST_CASE("transports: a local server, with a limit of memory") {
    auto node = create_local_server({.memory = 1_MiB});
    CHECK(node.target().starts_with("tcp://127.0.0.1:"));
    graph g;
    graph_scope use(g);
    placeholder<float, dyn> x("x");
    const tensor<float, dyn> y(x + 1.f);
    const session s(g, {.target = node.target()});
    CHECK(s.run(y, feed(x, std::vector<float>{1, 2}))(1) == 3.f);
    CHECK_THROWS_AS(s.run(y, feed(x, std::vector<float>(1'000'000))), resource_exhausted);
    CHECK(s.run(y, feed(x, std::vector<float>{1, 2}))(0) == 2.f);
}

TEST_CASE("transports: tasks with keys, and one that says that it is another") {
    const auto ps = make_key_pair(), worker = make_key_pair();
    const std::vector<std::pair<std::string, std::string>> allowed{{"ps/0", ps.first}, {"worker/0", worker.first}};
    const credentials of_ps{"ps/0", ps.first, ps.second, allowed},
        of_worker{"worker/0", worker.first, worker.second, allowed};
    {
        network_cluster all({.security = of_ps, .health = fast}, {.security = of_worker, .health = fast});
        counting_graph m;
        session s(m.g, {.target = all.worker->target()});
        s.run(m.w.initializer());
        s.run(m.step);
        CHECK(s.run(m.w)[39] == 3.f);
    }
    const auto at = free_addresses(2);
    const cluster_spec spec{{"ps", {at[0]}}, {"worker", {at[1]}}};
    CHECK_THROWS_AS(server(spec, "worker", 0, {.security = of_ps}), failed_precondition);
    CHECK_THROWS_AS(server(cluster_spec{{"ps", {at[0]}}, {"late", {at[1]}}}, "ps", 0, {.security = of_ps}), not_found);
    // a key that is allowed, in the hands of a program that lies about its name
    auto liar = of_worker;
    liar.allowed = {{"worker/0", worker.first}, {"ps/0", ps.first}};
    liar.name = "ps/1";
    const cluster_spec larger{{"ps", {at[0], at[1]}}};
    liar.allowed.emplace_back("ps/1", worker.first);
    auto trusts = of_ps;
    trusts.allowed.emplace_back("ps/1", make_key_pair().first);
    const server node(larger, "ps", 0, {.security = trusts, .health = fast});
    const server lies(larger, "ps", 1, {.security = liar, .health = fast});
    graph g;
    graph_scope use(g);
    const auto v = [] {
        device_scope on("/job:ps/task:0");
        return variable<float>("v", 1.f);
    }();
    session s(g, {.target = lies.target()});
    CHECK_THROWS_AS(s.run(v.initializer()), permission_denied);
    CHECK_THROWS_AS(server(cluster_spec{{"ps", {"0.0.0.0:1"}}}, "ps", 0), permission_denied);
}

TEST_CASE("transports: bytes that are no messages do no harm") {
    network_cluster all;
    zmq_transport stranger;
    const auto to = stranger.connect(all.ps->target(), [](auto, auto) {});
    std::uint64_t draw = 1;
    for (int i = 0; i < 200; ++i) {
        message_parts m;
        for (int k = 0; k <= i % 4; ++k) {
            std::string t;
            for (int n = 0; n < (k == 0 ? 96 : i); ++n)
                t += static_cast<char>((draw = draw * 6364136223846793005u + 1) >> 56);
            m.emplace_back(std::move(t));
        }
        stranger.send(to, std::move(m));
    }
    counting_graph m;
    session s(m.g, {.target = all.worker->target()});
    s.run(m.w.initializer());
    s.run(m.step);
    CHECK(s.run(m.w)[0] == 3.f);
}

} // namespace test_transports
#endif
