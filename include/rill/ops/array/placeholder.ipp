// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/placeholder.hpp>

#include <span>
#include <string>
#include <vector>

namespace rill::inline RILL_ABI {

RILL_INLINE std::vector<tensor_type> placeholder_op::outputs(std::span<const tensor_type>) const { return {type}; }

RILL_INLINE endpoint detail::add_placeholder(const tensor_type& type, const std::string& name,
                                             const std::source_location& where) {
    return {add_node(current_graph(), make_op(placeholder_op{type}), {}, name, false, where), 0};
}

RILL_INLINE any_tensor any_placeholder(const std::string& name, dtype type, const dims& shape,
                                       const std::source_location& where) {
    return detail::add_placeholder({type, shape}, name, where);
}

} // namespace rill::inline RILL_ABI
