// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_extremum.hpp>

namespace rill { inline namespace RILL_ABI {

/// A reduction by min: a fused node with a gradient of its own.
struct reduce_min_op : detail::extremum<reduce_min_op, combine::min> {
    static constexpr auto name = "Min", label = "reduce_min";
};

namespace detail {

template <bool Keep, int... Axes, class X> auto reduce_min(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_min: an axis is out of range, or named twice");
    static_assert(are_real<X>, "reduce_min: the element type is not real");
    return reduce_extremum<reduce_min_op, combine::min, Keep, Axes...>(x, where);
}

} // namespace detail

/// Returns the smallest element over axes; NaN if any element is NaN. The result for no elements is infinity or the
/// largest integer. Gradient: g, shared equally by the smallest elements. Without a list, all axes are reduced;
/// negative axes count from the end. The argument is evaluated in the same pass.
template <int... Axes, graph_operand X>
auto reduce_min(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_min<false, Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_min(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_min<true, Axes...>(x, where);
}

/// Overload for axes known only at run time: reduce_min(x, 1), reduce_min(x, {0, -1}), reduce_min(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_min(const X& x, const A& axes, K = {},
                const std::source_location& where = std::source_location::current()) {
    static_assert(are_real<X>, "reduce_min: the element type is not real");
    detail::require_kernel_for<reduce_min_op, X>();
    return detail::reduce_at<combine::min, K>(x, axes, &reduce_min_op::make, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_min(const X& x, const int (&axes)[N], K keep = {},
                const std::source_location& where = std::source_location::current()) {
    return reduce_min(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
