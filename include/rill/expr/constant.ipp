// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/constant.hpp>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE any_array owned_copy(const any_array& a) {
    any_array copy(a.dtype(), a.shape());
    copy_elements(a.dtype(), a.data(), copy.mutable_data(), a.size());
    return copy;
}

} // namespace detail

RILL_INLINE any_tensor constant(const any_array& value) {
    return endpoint{detail::add_node(current_graph(), make_op(constant_op{detail::owned_copy(value)}), {}), 0};
}

} // namespace rill::inline RILL_ABI
