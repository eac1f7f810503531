// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/constant.hpp>
#include <rill/ops/control/cond.hpp>
#include <rill/ops/control/function.hpp>
#include <rill/ops/control/primitives/primitives.hpp>
#include <rill/ops/control/while_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The base of the ops of control-flow primitives.
struct flow_primitive {
    using domain_type = domains::every;
    static constexpr auto no_gradient = "loops and branches of primitives have none: use cond and while_loop";

    static flow_ops functional_ops() {
        return {make_op(case_op{}), make_op(while_op{}), make_op(call_op{}),
                [](int value) { return make_op(constant_op{owned_copy(dtype::int32, {}, &value)}); }};
    }
};

/// Adds the node of a primitive and registers its op by name. The op has no kernel.
template <class Op, class... X>
const node* add_flow_node(const Op& op, const std::source_location& where, const X&... x) {
    ensure_registered<Op>();
    return add_op_node(make_op(op), 0, where, x...).from;
}

}}} // namespace rill::RILL_ABI::detail
