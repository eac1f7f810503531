// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/constant.hpp>

#include <span>
#include <string>
#include <vector>

#include <rill/graph/op/op_registry.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE std::vector<tensor_type> constant_op::outputs(std::span<const tensor_type>) const { return {value.type()}; }

namespace detail {

RILL_INLINE endpoint add_constant(const graph& g, const any_array& value, bool share, const std::string& name,
                                  const std::source_location& where) {
    ensure_registered<constant_op>();
    return {add_node(g, make_op(constant_op{value}), {}, name, share, where), 0};
}

} // namespace detail

RILL_INLINE any_tensor constant(const any_array& value, const std::source_location& where) {
    return detail::add_constant(current_graph(), detail::owned_copy(value), false, {}, where);
}

}} // namespace rill::RILL_ABI
