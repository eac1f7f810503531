// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/plan/compile_graph.hpp>

#include <string>
#include <vector>

#include <rill/core/log.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_compile_graph {

struct fixture {
    graph g;
    graph_scope here{g};
    placeholder<float, dyn> x{"x"};

    subgraph compiled(const std::vector<endpoint>& fetches, const session_options& options = {},
                      const detail::edge_devices& edges = {}) {
        const detail::plan_key key{fetches, {}, {x}};
        where = detail::make_placement(options);
        auto made = detail::compile_graph(key, nullptr, true, *where, edges);
        CHECK(made.flow == nullptr);
        check(made.items, true);
        return std::move(made.items);
    }
    std::shared_ptr<placement> where;
};

} // namespace test_compile_graph

using test_compile_graph_fixture = test_compile_graph::fixture;

TEST_CASE("compile_graph: nodes are placed after variants are merged, and before anything compares devices") {
    std::vector<std::string> names;
    for (const auto& pass : detail::graph_passes) names.emplace_back(pass.name);
    CHECK(names == std::vector<std::string>{"merge_region_variants", "place", "eliminate_common_subexpressions",
                                            "fold_operands", "serialize_lock_ops", "order_variable_accesses",
                                            "sort_items"});
}

TEST_CASE_METHOD(test_compile_graph_fixture, "compile_graph: items keep the device of their node through all passes") {
    const variable<float> w("w", 1.f);
    const auto read = [&](const std::string& device, const char* name) {
        const device_scope on(device);
        return tensor(exp(x) + w, name);
    };
    const tensor a = read("/cpu:1", "a"), same = read("/cpu:1", "same"), other = read("/cpu:2", "other");
    const tensor written = w.assign(2.f);
    const auto run = compiled({a, same, other, written}, {.device_count = {{"cpu", 3}}});
    const auto& at = [&](std::size_t fetch) -> const subgraph::item& {
        return run.items[static_cast<std::size_t>(run.fetches[fetch].item)];
    };
    CHECK(run.fetches[0] == run.fetches[1]);
    CHECK_FALSE(run.fetches[0] == run.fetches[2]);
    CHECK(at(0).device->index == 1);
    CHECK(at(2).device->index == 2);
    for (const auto& it : run.items)
        if (it.origin) CHECK(it.device == &where->device_of(*it.origin));
}

TEST_CASE_METHOD(test_compile_graph_fixture, "compile_graph: a feed lies where the caller says") {
    const auto usual = compiled({tensor(exp(x))});
    CHECK(usual.items[0].feed == 0);
    CHECK(usual.items[0].memory() == nullptr);
    const memory_space space{"elsewhere"};
    const device_type type{"elsewhere"};
    const device elsewhere{&type, 0, &space};
    const auto moved = compiled({tensor(exp(x))}, {}, {{&elsewhere}, nullptr});
    CHECK(moved.items[0].memory() == &space);
}

TEST_CASE_METHOD(test_compile_graph_fixture,
                 "compile_graph: the placement of a session logs each node once, if asked to") {
    std::vector<std::string> heard;
    set_log_sink([&](log_level, std::string_view text) { heard.emplace_back(text); });
    const tensor a(exp(x), "a");
    compiled({a});
    CHECK(heard.empty());
    compiled({a}, {.log_device_placement = true});
    set_log_sink({});
    CHECK(heard == std::vector<std::string>{"a: (Exp): /job:localhost/replica:0/task:0/device:CPU:0"});
}

TEST_CASE("compile_graph: the graph of a run is that of a fetch or a target") {
    const graph g;
    const graph_scope here(g);
    const tensor a(constant(1.f));
    CHECK(detail::graph_of(detail::plan_key{{a}, {}, {}}) == &g.state());
    CHECK(detail::graph_of(detail::plan_key{{}, {a.node()}, {}}) == &g.state());
    CHECK(detail::graph_of(detail::plan_key{}) == nullptr);
}
