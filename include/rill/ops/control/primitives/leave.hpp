// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/control/primitives/primitive_op.hpp>

namespace rill { inline namespace RILL_ABI {

/// Brings a value out of a loop, from the iteration in which its switch sends it here.
struct leave_op : detail::flow_primitive {
    static constexpr auto name = "Exit";
    static constexpr int inputs = 1;

    static control_flow_kind flow() { return {control_flow_kind::form::leaves}; }
    static std::vector<tensor_type> outputs(std::span<const tensor_type> in) { return detail::type_of_first(in); }
};

/// Returns the value of a loop's last iteration, outside the loop: leave(off). A fetch of a value within the loop throws invalid_argument.
template <graph_operand X> auto leave(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::handle_like<X>({detail::add_flow_node(leave_op{}, where, x), 0});
}

/// Returns leave(x): TensorFlow's word for it.
template <graph_operand X> auto exit_(const X& x, const std::source_location& where = std::source_location::current()) {
    return leave(x, where);
}

}} // namespace rill::RILL_ABI
