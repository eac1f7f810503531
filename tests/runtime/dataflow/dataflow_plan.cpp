// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/dataflow/dataflow_executor.hpp>
#include <rill/runtime/dataflow/dataflow_plan.hpp>
#include <rill/runtime/executor/completion_queue.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("dataflow_plan: steps, what each waits for, and what brings values into loops") {
    const graph_scope here{graph()};
    placeholder<int> n("n");
    const auto i = merge(enter(constant(0), "l", {.parallel_iterations = 3}));
    const auto way = switch_(i.value, loop_cond(i.value < n));
    close_loop({{i, next_iteration(way.if_true + 1)}});
    const auto out = leave(way.if_false);
    functionalized_part part;
    part.is_dataflow = true;
    for (const auto* each : current_graph().nodes()) part.nodes.insert(each);
    detail::plan_key key;
    key.fetches = {out};
    key.feeds = {n};
    key.functionalized = &part;
    const auto resources = std::make_shared<detail::resource_store>(default_allocator());
    const detail::dataflow_plan p(key, {}, resources, detail::make_placement({}));
    REQUIRE(p.loops().size() == 2);
    CHECK(p.loops()[1].parallel == 3);
    CHECK(p.loops()[1].enters == 1); // n is fed: it is there
    CHECK(p.loops()[1].leaves.size() == 1);
    for (const auto& s : p.steps()) {
        if (s.flow.what == control_flow_kind::form::merges) {
            CHECK(s.begins);
            CHECK(s.data == 2);
        }
        CHECK(bool(s.runs) == !s.flow);
    }
    const int seven = 7;
    const std::vector<any_array> feeds{any_array(dtype::int32, {}, &seven, nullptr)};
    struct nobody final : detail::parent_run {
        void nested_done(std::size_t, std::vector<any_array>) override {}
        void rethrow_nested(std::size_t) const override { throw; }
    } outer;
    const step_context context;
    detail::completion_queue events(forever, context);
    const auto all = detail::make_dataflow_executor(p, feeds)->begin(outer, 0, events, context);
    REQUIRE(all);
    CHECK((*all)[0].value<int>() == 7);
}

TEST_CASE("dataflow_plan: a write after a write that is not a variable's own is refused") {
    const graph_scope here{graph()};
    variable<float> w("w", 0.f);
    placeholder<bool> p("p");
    const auto [off, on] = switch_(constant(1.f), p);
    const any_tensor once = w.assign_add(on);
    const endpoint twice{detail::add_node(current_graph(), once.node()->op, {once, on}), 0};
    const session s;
    s.run(global_variables_initializer());
    CHECK_THROWS_AS(s.run(any_tensor(twice), feed(p, true)), unimplemented);
    CHECK_THROWS_WITH(s.run(any_tensor(twice), feed(p, true)), contains("with a control dependency"));
}
