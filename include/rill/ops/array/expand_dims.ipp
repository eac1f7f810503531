// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/expand_dims.hpp>

#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE endpoint expanded(const endpoint& x, int axis, const std::source_location& where) {
    require_kernel<expand_dims_op, void>();
    require_reshape();
    return {add_node(graph(*x.from->owner), make_op(expand_dims_op{axis}), {x}, {}, false, where), 0};
}

} // namespace detail

RILL_INLINE std::vector<endpoint> expand_dims_op::gradient(const gradient_request& r) const {
    return {detail::in_shape_of(r.input(0), r.gradient())};
}

} // namespace rill::inline RILL_ABI
