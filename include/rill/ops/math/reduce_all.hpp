// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <bool Keep, int... Axes, class X> auto reduce_all(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_all: an axis is out of range, or named twice");
    static_assert(are_bool<X>, "reduce_all: the elements must be bool; compare them first");
    return reduce<combine::all, Keep, Axes...>(x, &make_fused_op, where);
}

} // namespace detail

/// Returns true if all elements over axes are true. The result for no elements is true. Without a list, all axes are reduced; negative axes
/// count from the end. The argument is evaluated in the same pass.
template <int... Axes, graph_operand X>
auto reduce_all(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_all<false, Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_all(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_all<true, Axes...>(x, where);
}

/// Overload for axes known only at run time: reduce_all(x, 1), reduce_all(x, {0, -1}), reduce_all(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_all(const X& x, const A& axes, K = {},
                const std::source_location& where = std::source_location::current()) {
    static_assert(are_bool<X>, "reduce_all: the elements must be bool; compare them first");
    return detail::reduce_at<combine::all, K>(x, axes, &detail::make_fused_op, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_all(const X& x, const int (&axes)[N], K keep = {},
                const std::source_location& where = std::source_location::current()) {
    return reduce_all(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
