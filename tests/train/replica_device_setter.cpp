// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/replica_device_setter.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/optimizer.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_replica_device_setter {

const cluster_spec cluster{{"ps", {"a", "b"}}, {"worker", {"c", "d"}}};

TEST_CASE("replica device setter: variables one server after the other, all else on the worker") {
    graph g;
    graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = "/job:worker/task:1"}));
    placeholder<float> x("x");
    variable<float> first("first", 1.f), second("second", 2.f), third("third", 3.f);
    tensor<float> loss(first * x + second * third, "loss");
    const auto train = adam(0.1f).minimize(loss);
    CHECK(requested_device(*first.node()) == "/job:ps/task:0");
    CHECK(requested_device(*second.node()) == "/job:ps/task:1");
    CHECK(requested_device(*third.node()) == "/job:ps/task:0"); // slots do not count
    CHECK(requested_device(*loss.node()) == "/job:worker/task:1");
}

TEST_CASE("replica device setter: by bytes, and as a function says") {
    graph g;
    graph_scope use(g);
    {
        const device_scope on(replica_device_setter(cluster, {.strategy = by_bytes}));
        variable<float, 100> large("large", 0.f);
        variable<float, 10> a("a", 0.f), b("b", 0.f);
        CHECK(requested_device(*large.node()) == "/job:ps/task:0");
        CHECK(requested_device(*a.node()) == "/job:ps/task:1");
        CHECK(requested_device(*b.node()) == "/job:ps/task:1");
    }
    const device_scope on(
        replica_device_setter(cluster, {.strategy = [](const node_info&, auto) { return std::size_t(2); }}));
    CHECK_THROWS_WITH((variable<float>("other", 0.f)), contains("task 2") && contains("has 2"));
    CHECK_THROWS_AS(replica_device_setter(cluster, {.ps = "/job:chief"}), not_found);
    CHECK_THROWS_AS(replica_device_setter(cluster, {.worker = "worker"}), invalid_argument);
}

} // namespace test_replica_device_setter
