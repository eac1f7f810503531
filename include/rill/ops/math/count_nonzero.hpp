// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <rill/ops/array/fill.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/not_equal.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns 1 for each nonzero element, else 0, as std::int64_t.
template <graph_operand X> auto ones_of_nonzero(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(has_zero_and_one<value_type_of<X>>, "count_nonzero: the element type has no zero");
        return cast<std::int64_t>(not_equal(x, value_type_of<X>(0)));
    } else {
        return cast<std::int64_t>(not_equal(x, zero_of(x, where)));
    }
}

} // namespace detail

/// Returns the number of nonzero elements over axes, as std::int64_t. Without a list, all axes are reduced.
template <int... Axes, graph_operand X>
auto count_nonzero(const X& x, const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "count_nonzero: an axis is out of range, or named twice");
    detail::require_axes<Axes...>("count_nonzero", x, where);
    return reduce_sum<Axes...>(detail::ones_of_nonzero(x, where), where);
}

/// Overload for axes known only at run time: count_nonzero(x, 1), count_nonzero(x, {0, -1}), count_nonzero(x, 1,
/// keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto count_nonzero(const X& x, const A& axes, K keep = {},
                   const std::source_location& where = std::source_location::current()) {
    detail::require_axes("count_nonzero", x, to_axes(axes), where);
    return reduce_sum(detail::ones_of_nonzero(x, where), axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto count_nonzero(const X& x, const int (&axes)[N], K keep = {},
                   const std::source_location& where = std::source_location::current()) {
    return count_nonzero(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
