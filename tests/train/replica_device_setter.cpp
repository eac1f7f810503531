// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/replica_device_setter.hpp>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/any_variable.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/optimizer.hpp>

#include "catch.hpp"
#include "seeds.hpp"

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

TEST_CASE("replica device setter: a number of servers instead of a cluster") {
    const graph g;
    const graph_scope use(g);
    const auto devices_of = [&](const device_function& setter) {
        const device_scope on(setter);
        const placeholder<float> x;
        const variable<float> a("a", 1.f), b("b", 2.f), c("c", 3.f);
        const tensor<float> y(a * x + b * x + c);
        std::vector<std::string> all;
        for (const auto& v : {any_tensor(a), any_tensor(b), any_tensor(c), any_tensor(y)})
            all.push_back(requested_device(*v.node()));
        return all;
    };
    using names = std::vector<std::string>;
    CHECK(devices_of(replica_device_setter({.ps_tasks = 2, .ps = "/job:ps", .worker = "/job:worker"})) ==
          names{"/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0", "/job:worker"});
    CHECK(devices_of(replica_device_setter({.ps_tasks = 2})) ==
          names{"/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0", "/job:worker"});
    CHECK(devices_of(replica_device_setter({.ps_tasks = 3,
                                            .ps = "/job:keepers/cpu:1",
                                            .worker = "/job:worker/task:4",
                                            .strategy = [](const auto&, auto loads) { return loads.size() - 1; }})) ==
          names{"/job:keepers/task:2/device:cpu:1", "/job:keepers/task:2/device:cpu:1",
                "/job:keepers/task:2/device:cpu:1", "/job:worker/task:4"});
    // of the cluster's servers the first ones
    CHECK(devices_of(replica_device_setter(cluster, {.ps_tasks = 1, .worker = "/job:worker/task:1"})) ==
          names{"/job:ps/task:0", "/job:ps/task:0", "/job:ps/task:0", "/job:worker/task:1"});
    for (const int none : {0, -1}) {
        CHECK_THROWS_AS(replica_device_setter({.ps_tasks = none}), invalid_argument);
        CHECK_THROWS_AS(replica_device_setter(cluster, {.ps_tasks = none}), invalid_argument);
    }
    CHECK_THROWS_WITH(replica_device_setter({.worker = "/job:worker"}), contains("ps_tasks"));
    CHECK_THROWS_WITH(replica_device_setter(cluster, {.ps_tasks = 3}), contains("3") && contains("has 2"));
    CHECK_THROWS_AS(replica_device_setter({.ps_tasks = 1, .ps = "/task:1"}), invalid_argument);
}

TEST_CASE("replica device setter: initial values lie beside their variables") {
    graph g;
    graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = "/job:worker/task:1"}));
    const placeholder<float> x("x");
    const variable<float, 3> a("a", random_uniform()), b("b", glorot_uniform());
    const variable<float> c("c", square(constant(2.f)) + 1.f);
    const variable<float, dyn> d("d", dims{4}, truncated_normal());
    const auto e = any_variable("e", dtype::float32, dims{2}, random_uniform());
    const auto beside = [&](const any_tensor& v) {
        const node* initial = v.graph().state().initializer(v.node())->inputs[1].from;
        CHECK(initial->colocated == v.node());
        return requested_device(*initial);
    };
    CHECK(beside(a) == "/job:ps/task:0");
    CHECK(beside(b) == "/job:ps/task:1");
    CHECK(beside(c) == "/job:ps/task:0");
    CHECK(beside(d) == "/job:ps/task:1");
    CHECK(beside(e) == "/job:ps/task:0");
    CHECK(requested_device(*tensor(x + 1.f).node()) == "/job:worker/task:1"); // the scope has ended
    {
        const control_dependencies after(a.initializer()); // which an initial value does not take
        const variable<float> f("f", random_uniform());
        CHECK(g.state().initializer(f.node())->inputs[1].from->control_inputs.empty());
    }
}

TEST_CASE("replica device setter: by bytes the servers get equal loads, within a tenth", "[random]") {
    const cluster_spec three{{"ps", {"a", "b", "c"}}, {"worker", {"d"}}};
    seeds::each(5, [&](std::uint64_t seed) {
        seeds::draws draws(seed);
        const graph g;
        const graph_scope use(g);
        const device_scope on(replica_device_setter(three, {.strategy = by_bytes}));
        std::map<std::string, double> bytes;
        double all = 0;
        for (int i = 0; i < 120; ++i) {
            const variable<float, dyn> v("v" + std::to_string(i), dims{static_cast<index_t>(1 + draws(1000))}, 0.f);
            const auto size = static_cast<double>(type_of(v.end()).bytes());
            bytes[requested_device(*v.node())] += size;
            all += size;
        }
        REQUIRE(bytes.size() == 3);
        for (const auto& [device, n] : bytes) CHECK(std::abs(n - all / 3) <= all / 30);
    });
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
