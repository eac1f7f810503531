// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/squeeze.hpp>

#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE endpoint squeezed(const endpoint& x, const axis_list& axes, const std::source_location& where) {
    require_kernel<squeeze_op, void>();
    require_reshape();
    return {add_node(graph(*x.from->owner), make_op(squeeze_op{axes}), {x}, {}, false, where), 0};
}

} // namespace detail

RILL_INLINE std::vector<endpoint> squeeze_op::gradient(const gradient_request& r) const {
    return {detail::in_shape_of(r.input(0), r.gradient())};
}

} // namespace rill::inline RILL_ABI
