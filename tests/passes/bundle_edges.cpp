// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/bundle_edges.hpp>

#include <string>
#include <utility>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/partition.hpp>
#include <rill/passes/place.hpp>
#include <rill/passes/prune.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_bundle_edges {

/// Returns the edges that are messages of a run on two devices.
template <class F> std::vector<cross_edge> messages(const F& make) {
    const graph g;
    const graph_scope here(g);
    detail::register_exchange_ops();
    const placeholder<float, 3> x("x");
    const auto on = [](int cpu, const auto& f) {
        const device_scope there("/cpu:" + std::to_string(cpu));
        return tensor(f());
    };
    const std::vector<endpoint> fetches{make(x, on)}, feeds{x};
    placement where({{"cpu", 2}}, cpu_device(), false);
    exchange_inserter inserter([](const device& d) -> const device& { return d; }, where.devices());
    auto items = inserter.run(place(prune(fetches, {}, feeds), where));
    items = inserter.bundle(sort_items(order_variable_accesses(std::move(items))));
    check(items, true);
    std::vector<cross_edge> found;
    for (const auto& e : inserter.take_apart(items).edges)
        if (e.bundled_into < 0) found.push_back(e);
    return found;
}

TEST_CASE("bundle edges: values that leave after the same exchanges are one message") {
    const auto found = messages([](const auto& x, const auto& on) {
        const auto a = on(0, [&] { return x * 2.f; }), b = on(0, [&] { return x + 1.f; });
        const auto c = on(0, [&] { return reduce_sum(x); });
        return on(1, [&] { return a * b + c; });
    });
    REQUIRE(found.size() == 1);
    CHECK(found[0].type == tensor_type{dtype::uint8, dims{16 + 16 + 8}});
}

TEST_CASE("bundle edges: values that depend on each other through the other part are not one message") {
    const auto found = messages([](const auto& x, const auto& on) {
        const auto a = on(0, [&] { return x * 2.f; });
        const auto back = on(1, [&] { return a + 1.f; });
        const auto b = on(0, [&] { return tanh(back); });
        return on(1, [&] { return a * b; });
    });
    CHECK(found.size() == 3);
}

TEST_CASE("bundle edges: nor is a variable before it is written, and what is computed after") {
    const auto found = messages([](const auto& x, const auto& on) {
        const device_scope there("/cpu:0");
        const variable<float, 3> v("v", {1.f, 2.f, 3.f});
        const auto after = on(0, [&] { return v.assign_add(x); });
        const auto later = on(0, [&] { return after * 2.f; });
        return on(1, [&] { return v * later; });
    });
    CHECK(found.size() == 2);
}

TEST_CASE("bundle edges: large values go alone") {
    const auto found = messages([](const auto& x, const auto& on) {
        const auto a = on(0, [&] { return broadcast_to<40000, 3>(x); });
        const auto b = on(0, [&] { return x * 2.f; }), c = on(0, [&] { return x * 3.f; });
        return on(1, [&] { return reduce_sum(a) + reduce_sum(b * c); });
    });
    REQUIRE(found.size() == 2);
    CHECK((found[0].type.bytes() == 480000 || found[1].type.bytes() == 480000));
}

} // namespace test_bundle_edges
