// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/expr/node_op.hpp>

// What ops that take indices share: their element types, and the check before anything is written.

namespace rill::inline RILL_ABI {

/// An element type that can be an index or a class.
template <class I>
inline constexpr bool is_index_type = std::is_same_v<I, std::int32_t> || std::is_same_v<I, std::int64_t>;

namespace detail {

/// Calls f with the element type of the indices.
template <class F> auto with_index_type(dtype type, F f) {
    return type == dtype::int64 ? f(std::type_identity<std::int64_t>{}) : f(std::type_identity<std::int32_t>{});
}

void check_index_type(dtype type, const char* what);

/// "[1, 0]": where an element of a shape is.
std::string position_of(index_t flat, const dims& shape);

/// Throws if an id is not in [0, extent).
template <class D, class I>
void check_indices(const I* ids, const dims& shape, index_t extent, error_code code, const char* what) {
    const index_t n = shape.size(), wrong = D::first_outside(ids, n, extent);
    if (wrong >= 0)
        throw_error(code, std::string(what) + " " + std::to_string(ids[wrong]) + " at " + position_of(wrong, shape) +
                              " is outside [0, " + std::to_string(extent) + ")");
}

/// An array seen as [outer, extent of the axis, inner].
struct axis_view {
    index_t outer = 1, extent = 1, inner = 1;

    axis_view(const dims& shape, int axis);
};

} // namespace detail

} // namespace rill::inline RILL_ABI

#if !RILL_COMPILED
#include <rill/ops/array/indices.ipp>
#endif
