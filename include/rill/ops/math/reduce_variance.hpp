// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <int... Axes, class X, class... Keep>
auto reduce_variance(const X& x, const std::source_location& where, Keep... keep) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_variance: an axis is out of range, or named twice");
    static_assert(are_real_floating<X>, "reduce_variance: the elements must be floating");
    require_floating("reduce_variance", x, where);
    require_axes<Axes...>("reduce_variance", x, where);
    return rill::reduce_mean<Axes...>(square(x - rill::reduce_mean<Axes...>(x, keep_dims, where)), keep..., where);
}

template <class X, class A, class K>
auto reduce_variance_at(const X& x, const A& axes, K keep, const std::source_location& where) {
    static_assert(are_real_floating<X>, "reduce_variance: the elements must be floating");
    require_floating("reduce_variance", x, where);
    require_axes("reduce_variance", x, to_axes(axes), where);
    return rill::reduce_mean(square(x - rill::reduce_mean(x, axes, keep_dims, where)), axes, keep, where);
}

} // namespace detail

/// Returns the mean squared distance from the mean over axes, of the whole population as in TensorFlow. The result for no elements is NaN.
/// It takes two passes, to avoid cancellation. Without a list, all axes are reduced; negative axes count from the end.
template <int... Axes, graph_operand X>
auto reduce_variance(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_variance<Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_variance(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_variance<Axes...>(x, where, keep_dims);
}

/// Overload for axes known only at run time: reduce_variance(x, 1), reduce_variance(x, {0, -1}), reduce_variance(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_variance(const X& x, const A& axes, K keep = {},
                     const std::source_location& where = std::source_location::current()) {
    return detail::reduce_variance_at(x, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_variance(const X& x, const int (&axes)[N], K keep = {},
                     const std::source_location& where = std::source_location::current()) {
    return detail::reduce_variance_at(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
