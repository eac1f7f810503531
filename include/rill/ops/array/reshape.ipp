// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reshape.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE endpoint in_shape_of(const endpoint& x, const endpoint& g) {
    const graph here(*g.from->owner);
    const dims& shape = type_of(x).shape;
    const auto end = shape.extent.begin() + std::max(shape.rank, 0);
    const bool empty = std::find(shape.extent.begin(), end, 0) != end; // then no dyn can be worked out
    if (shape.complete() || (shape.known_rank() && shape.dynamic_extents() == 1 && !empty))
        return {add_node(here, make_op(reshape_op{shape}), {g}), 0};
    return {add_node(here, make_op(reshape_like_op{}), {g, x}), 0};
}

} // namespace detail

RILL_INLINE std::vector<tensor_type> reshape_op::outputs(std::span<const tensor_type> in) const {
    const auto r = shape(in[0].shape);
    if (!r.ok()) throw invalid_argument(std::string(r.broken) + " (asked for " + to_string(to) + ")");
    return {{in[0].type, r.shape}};
}

RILL_INLINE std::vector<endpoint> reshape_op::gradient(const gradient_request& r) const {
    return {detail::in_shape_of(r.input(0), r.gradient())};
}

} // namespace rill::inline RILL_ABI
