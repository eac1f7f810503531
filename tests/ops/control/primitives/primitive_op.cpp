// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/primitives/primitive_op.hpp>

#include <rill/ops/catalogue.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("flow_node: a primitive, and what can stand in for it") {
    const graph_scope here{graph()};
    const auto [off, on] = switch_(constant(1.f), constant(true));
    const node* made = on.node();
    CHECK(made->op->flow().what == control_flow_kind::form::switches);
    CHECK(current_graph().state().primitive() == made->op.get());
    const auto ops = made->op->functional_ops();
    CHECK(ops.choose->regions()->how == region_attributes::form::choose);
    CHECK(ops.repeat->regions()->how == region_attributes::form::repeat);
    CHECK(ops.call->regions()->how == region_attributes::form::call);
    CHECK(ops.number(3)->constant()->value<int>() == 3);
}
