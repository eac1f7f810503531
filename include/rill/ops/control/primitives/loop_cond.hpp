// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/primitives/primitive_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Marks the condition of a loop, the predicate of the loop's switches. The value false ends the loop.
struct loop_cond_op : detail::flow_primitive {
    static constexpr auto name = "LoopCond";
    static constexpr int inputs = 1;
    using domain_type = domains::boolean;

    static control_flow_kind flow() { return {control_flow_kind::form::loop_condition}; }
    std::vector<tensor_type> outputs(std::span<const tensor_type> in) const;
};

/// Marks p, a bool of rank 0, as the condition of its loop: loop_cond(p).
template <graph_operand P>
auto loop_cond(const P& p, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<P>) {
        static_assert(same_dtype<value_type_of<P>, bool>, "loop_cond: the condition must be a bool");
        static_assert(extents_of<P>::rank == 0, "loop_cond: the condition must have rank 0");
    }
    return detail::handle_like<P>({detail::add_flow_node(loop_cond_op{}, where, p), 0});
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> loop_cond_op::outputs(std::span<const tensor_type> in) const {
    detail::check_predicate(in[0], "the condition");
    return {in[0]};
}

}} // namespace rill::RILL_ABI
#endif
