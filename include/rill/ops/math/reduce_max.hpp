// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_extremum.hpp>

namespace rill { inline namespace RILL_ABI {

/// A reduction by max: a fused node with a gradient of its own.
struct reduce_max_op : detail::extremum<reduce_max_op, combine::max> {
    static constexpr auto name = "Max", label = "reduce_max";
};

namespace detail {

template <bool Keep, int... Axes, class X> auto reduce_max(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_max: an axis is out of range, or named twice");
    static_assert(are_real<X>, "reduce_max: the element type is not real");
    return reduce_extremum<reduce_max_op, combine::max, Keep, Axes...>(x, where);
}

} // namespace detail

/// Returns the largest element over axes; NaN if any element is NaN. The result for no elements is -infinity or the
/// lowest integer. Gradient: g, shared equally by the largest elements. Without a list, all axes are reduced; negative
/// axes count from the end. The argument is evaluated in the same pass.
template <int... Axes, graph_operand X>
auto reduce_max(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_max<false, Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_max(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_max<true, Axes...>(x, where);
}

/// Overload for axes known only at run time: reduce_max(x, 1), reduce_max(x, {0, -1}), reduce_max(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_max(const X& x, const A& axes, K = {},
                const std::source_location& where = std::source_location::current()) {
    static_assert(are_real<X>, "reduce_max: the element type is not real");
    detail::require_kernel_for<reduce_max_op, X>();
    return detail::reduce_at<combine::max, K>(x, axes, &reduce_max_op::make, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_max(const X& x, const int (&axes)[N], K keep = {},
                const std::source_location& where = std::source_location::current()) {
    return reduce_max(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
