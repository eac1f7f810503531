// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/primitives/primitive_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Brings a value to the next iteration of a loop, over a back edge to a merge.
struct next_iteration_op : detail::flow_primitive {
    static constexpr auto name = "NextIteration";
    static constexpr int inputs = 1;

    static control_flow_kind flow() { return {control_flow_kind::form::next_iteration}; }
    static std::vector<tensor_type> outputs(std::span<const tensor_type> in) { return detail::type_of_first(in); }
};

/// Returns x for the next iteration: next_iteration(x). close_loop connects it to a merge.
template <graph_operand X>
auto next_iteration(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::handle_like<X>({detail::add_flow_node(next_iteration_op{}, where, x), 0});
}

}} // namespace rill::RILL_ABI
