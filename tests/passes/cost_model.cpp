// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/cost_model.hpp>

#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/functionalize/functionalize_control_flow.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("cost model: products by their arithmetic, open extents, values that move") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 100, 100> x("x");
    const placeholder<float, dyn, 100> open("open");
    const tensor product(matmul(x, x));
    const tensor more(matmul(open, x));
    const std::vector<endpoint> fetches{product, more}, feeds{x, open};
    const auto items = prune(fetches, {}, feeds);
    const device_type slow{.name = "slow", .flops_per_microsecond = 1e4};
    const memory_space space{.name = "elsewhere"};
    const device cpu{&cpu_device()}, other{&cpu_device(), 1}, far{&slow, 0, &space};
    const cost_model costs;
    CHECK(costs.microseconds(items, items.fetches[0].item, far) == Approx(2e6 / 1e4));
    CHECK(costs.microseconds(items, items.fetches[0].item, cpu) < 2e6 / 1e4);
    CHECK(costs.microseconds(items, items.fetches[1].item, far) == Approx(2e4 * 64 / 1e4));
    CHECK(costs.microseconds(items, 0, cpu) == 0); // a feed
    CHECK(costs.bytes(items, items.fetches[1]) == 4 * 64 * 100);
    CHECK(costs.transfer_microseconds(4e4, &cpu, &cpu) == 0);
    CHECK(costs.transfer_microseconds(4e4, &cpu, &other) < costs.transfer_microseconds(4e4, nullptr, &far));
    const device elsewhere{&cpu_device(), 0, nullptr, {"worker", 0, 1, "cpu", 0}};
    CHECK(costs.transfer_microseconds(8e4, &cpu, &elsewhere) > costs.transfer_microseconds(8e4, &cpu, &far));
    CHECK(costs.transfer_microseconds(8e4, &cpu, &elsewhere) > 10 * costs.transfer_microseconds(8e4, &cpu, &other));
    CHECK(costs.transfer_microseconds(8e4, &far, nullptr) > costs.transfer_microseconds(4e4, &far, nullptr));
}

TEST_CASE("cost model: measured times come before estimates, and count by their ratio elsewhere") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 100, 100> x("x");
    const tensor product(matmul(x, x), "product");
    const std::vector<endpoint> fetches{product}, feeds{x};
    const auto items = prune(fetches, {}, feeds);
    const device_type slow{.name = "slow", .flops_per_microsecond = 1e4};
    const device cpu{&cpu_device()}, far{&slow};
    cost_record record;
    const cost_model costs(&record);
    CHECK(!costs.has_measured());
    CHECK(!cost_model().has_measured());
    const int item = items.fetches[0].item;
    const double there = costs.microseconds(items, item, far), here_now = costs.microseconds(items, item, cpu);
    record.add("product", cpu_device(), 3 * here_now);
    CHECK(costs.has_measured());
    CHECK(costs.microseconds(items, item, cpu) == 3 * here_now);
    CHECK(costs.microseconds(items, item, far) == Approx(3 * there));
}

TEST_CASE("cost model: a branch that is made of primitives costs what its nodes do") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 100, 100> x("x");
    const placeholder<bool> p("p");
    const auto way = switch_(x, p);
    const tensor y(merge(way.if_false, matmul(way.if_true, way.if_true)).value);
    const std::vector<endpoint> fetches{y}, feeds{x, p};
    const auto flow =
        detail::functionalize_control_flow({fetches, {}, feeds}, make_op(switch_op{})->functional_ops(), true);
    REQUIRE(flow);
    const auto items = prune(fetches, {}, feeds, nullptr, flow.get());
    const device_type slow{.name = "slow", .flops_per_microsecond = 1e4};
    const device there{&slow};
    double all = 0;
    for (int i = 0; i < static_cast<int>(items.items.size()); ++i) all += cost_model().microseconds(items, i, there);
    CHECK(all >= 2e6 / 1e4);
}
