// SPDX-License-Identifier: BSD-3-Clause
#include <rill/passes/functionalize/functionalized_graph.hpp>

#include <rill/ops/catalogue.hpp>
#include <rill/passes/functionalize/region_builder.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("functionalized_graph: nodes that stand for others, with what their bodies take") {
    const graph_scope here{graph()};
    placeholder<float, dyn> x("x");
    const tensor y(x * 2.f, "y");
    const std::vector<endpoint> fetches{y};
    const detail::flow_graph g({fetches, {}, {}});
    detail::functionalized_graph flow(nullptr, nullptr,
                                      {make_op(case_op{}), make_op(while_op{}), make_op(call_op{}), [](int v) {
                                           return make_op(constant_op{detail::owned_copy(dtype::int32, {}, &v)});
                                       }});
    std::vector<detail::region_builder> walks;
    walks.emplace_back(g, [&](const node* n) { return n == y.node(); }, endpoint_map(), std::vector<endpoint>());
    walks[0].give(y);
    const node* made = flow.add({region_attributes::form::call}, {}, walks, {}, *y.node(), "made");
    CHECK(made->name == "made");
    CHECK(made->id == y.node()->id);
    CHECK(made->inputs.size() == 1);
    CHECK(made->inputs[0] == x.end());
    CHECK((*made->bodies)[0].captured == std::vector<int>{0});
    CHECK(made->bodies->sized);
    CHECK(made->outputs[0].shape == dims{dyn});
    flow.replace(y.end(), {made, 0});
    flow.replace(y.node(), made);
    CHECK(flow.of(y.end()) == endpoint{made, 0});
    CHECK(flow.of(y.node()) == made);
    CHECK(flow.of(x.node()) == x.node());
    CHECK(flow.waits_for(x.node()));
    const auto three = flow.number(3, *y.node());
    CHECK(three.from->op->constant()->value<int>() == 3);
}
