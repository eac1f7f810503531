// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/captured_ranges.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/cumsum.hpp>
#include <rill/ops/random/random_uniform.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/passes/insert_copies.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/segment/binding.hpp>

#include "catch.hpp"
#include "host_like_memory.hpp"

using namespace rill;

namespace test_captured_ranges {

/// A memory that captures nothing when it is asked.
const memory_space memory = [] {
    auto all = test_segments::host_like_memory("captures");
    all.capture = [](const memory_space&, const std::function<void()>&) { return std::function<void()>(); };
    return all;
}();
const device there{&cpu_device(), 0, &memory}, host{&cpu_device(), 0};

/// Binds a subgraph on the device, with one node on the host, and returns the bound graph. `feeds_on`: the device of the feeds.
detail::bound_graph bind(const std::vector<endpoint>& fetches, const std::vector<const node*>& targets,
                         const std::vector<endpoint>& feeds, const std::vector<tensor_type>& types,
                         detail::resource_store& resources, const std::string& on_host = "none",
                         const device* feeds_on = nullptr) {
    subgraph g = sort_items(order_variable_accesses(prune(fetches, targets, feeds)));
    for (auto& it : g.items) it.device = it.feed >= 0 ? feeds_on : it.origin->name == on_host ? &host : &there;
    return *detail::binder::bind(insert_copies(std::move(g)), types, resources);
}
/// Returns the ranges as text: the ops of each.
std::string text(const detail::bound_graph& b) {
    std::string all;
    for (const auto& r : detail::find_captured_ranges(b)) {
        all += all.empty() ? "" : " | ";
        for (auto k = r.first; k < r.last; ++k) {
            const auto& it = b.graph.items[b.steps[k].item];
            all += (k > r.first ? " " : "") + std::string(it.op->name());
        }
    }
    return all;
}

TEST_CASE("captured_ranges: copies of feeds and fetches and steps of the host lie between the ranges") {
    const graph g;
    const graph_scope here(g);
    detail::resource_store resources(default_allocator());
    const placeholder<float, 4> x("x");
    const tensor a = cumsum<0>(x), b = cumsum<0>(a);
    const placeholder<float, 4> y("y");
    const tensor c = matmul(reshape<4, 1>(y), reshape<1, 4>(b)), d = cumsum<0>(c), e = cumsum<0>(d), f = cumsum<0>(e);
    const std::vector<tensor_type> types{{dtype::float32, dims{4}}, {dtype::float32, dims{4}}};
    const std::vector<endpoint> feeds{x, y};
    CHECK(text(bind({f}, {}, feeds, types, resources)) == "Cumsum Cumsum MatMul Cumsum Cumsum Cumsum");
    const std::string on_host(d.node()->name);
    CHECK(text(bind({f}, {}, feeds, types, resources, on_host)) == "Cumsum Cumsum MatMul | Cumsum Cumsum");
    const std::string near_end(e.node()->name); // one step is left behind it
    CHECK(text(bind({f}, {}, feeds, types, resources, near_end)) == "Cumsum Cumsum MatMul Cumsum");
}

TEST_CASE("captured_ranges: a number that host code reads keeps a step out, unless it is constant") {
    const graph g;
    const graph_scope here(g);
    detail::resource_store resources(default_allocator());
    const placeholder<float, 9> x("x");
    const placeholder<int, 1> from("from");
    const tensor a = cumsum<0>(cumsum<0>(x));
    const tensor fed = cumsum<0>(cumsum<0>(slice<3>(a, from)));
    const tensor fixed = cumsum<0>(cumsum<0>(slice<3>(a, constant({2}))));
    const std::vector<tensor_type> types{{dtype::float32, dims{9}}, {dtype::int32, dims{1}}};
    CHECK(text(bind({fed}, {}, {x, from}, types, resources)) == "Cumsum Cumsum | Cumsum Cumsum");
    CHECK(text(bind({fixed}, {}, {x}, {types[0]}, resources)) == "Cumsum Cumsum Slice Cumsum Cumsum");
}

TEST_CASE("captured_ranges: random ops and writes are captured, with the variables that they hold") {
    const graph g;
    const graph_scope here(g);
    detail::resource_store resources(default_allocator());
    const variable<float, 2000, 2> table("table", 0.f);
    const variable<float, 4> small("small", 0.f);
    const placeholder<int, 3> ids("ids");
    const tensor rows = gather(table, ids);
    const auto add = table.scatter_add(ids, rows);
    const auto noise = small.assign_add(random_uniform<float, 4>());
    const auto b = bind({}, {add.node(), noise.node()}, {ids}, {{dtype::int32, dims{3}}}, resources);
    const auto all = detail::find_captured_ranges(b);
    REQUIRE(all.size() == 1);
    CHECK(all[0].last - all[0].first == 4);
    CHECK(all[0].space == &memory);
    REQUIRE(all[0].variables.size() == 2);
    CHECK(b.variables[all[0].variables[0].variable].state < b.variables[all[0].variables[1].variable].state);
    for (const auto& v : all[0].variables) {
        CHECK(v.writes);
        CHECK(v.keeps == (b.variables[v.variable].origin->name == "small"));
        const auto slot = b.variables[v.variable].slot;
        for (const int s : {slot, slot - 1}) // of the new value and of the old one
            CHECK(std::ranges::find(all[0].slots, s) != all[0].slots.end());
    }
}

TEST_CASE("captured_ranges: a body is captured as a whole, but for the copy of its only fetch to the host") {
    const graph g;
    const graph_scope here(g);
    detail::resource_store resources(default_allocator());
    const placeholder<float, 4> x("x");
    const tensor a = cumsum<0>(x), b = cumsum<0>(a), c = cumsum<0>(b);
    const variable<float, 4> v("v", 0.f);
    const tensor read = cumsum<0>(cumsum<0>(v)), drawn = cumsum<0>(random_uniform<float, 4>());
    const std::vector<tensor_type> types{{dtype::float32, dims{4}}};
    const auto whole = [&](const tensor<float, 4>& fetched, const std::string& on_host = "none") {
        return detail::find_whole_capture(bind({fetched}, {}, {x}, types, resources, on_host, &there));
    };
    const auto all = whole(c); // fetched to the host
    CHECK(all.space == &memory);
    CHECK(all.steps == 3);
    CHECK(all.copied >= 0);
    CHECK(whole(c, std::string(b.node()->name)).space == nullptr);
    CHECK(whole(c, std::string(c.node()->name)).space == nullptr);
    CHECK(whole(read).space == nullptr);
    CHECK(whole(drawn).space == nullptr);
}

} // namespace test_captured_ranges
