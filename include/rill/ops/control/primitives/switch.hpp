// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/primitives/primitive_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Sends a value to its second output if the predicate is true, else to its first. The other output is dead, and so is every value computed
/// from it.
struct switch_op : detail::flow_primitive {
    static constexpr auto name = "Switch";
    static constexpr int inputs = 2;

    static control_flow_kind flow() { return {control_flow_kind::form::switches}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
};

/// The outputs of switch_: only one of the two is live.
template <class H> struct switched {
    H if_false, if_true;
};

/// Sends x to `on` if p, a bool of rank 0, is true, else to `off`: auto [off, on] = switch_(x, p). Nodes that need the dead output do not
/// run, and a fetch of it throws invalid_argument. A merge joins the two.
template <graph_operand X, graph_operand P>
auto switch_(const X& x, const P& predicate, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<P>) {
        static_assert(same_dtype<value_type_of<P>, bool>, "switch_: the predicate must be a bool");
        static_assert(extents_of<P>::rank == 0, "switch_: the predicate must have rank 0");
    }
    const node* n = detail::add_flow_node(switch_op{}, where, x, predicate);
    return switched{detail::handle_like<X>({n, 0}), detail::handle_like<X>({n, 1})};
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> switch_op::outputs(std::span<const tensor_type> in) const {
    detail::check_predicate(in[1], "the predicate");
    return {in[0], in[0]};
}

}} // namespace rill::RILL_ABI
#endif
