// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/square.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <int... Axes, class X, class... Keep>
auto reduce_l2_norm(const X& x, const std::source_location& where, Keep... keep) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_l2_norm: an axis is out of range, or named twice");
        static_assert(is_real_floating<value_type_of<X>>, "reduce_l2_norm: the elements must be floating");
    }
    require_floating("reduce_l2_norm", x, where);
    return sqrt(rill::reduce_sum<Axes...>(square(x), keep..., where));
}

template <class X, class... Keep>
any_tensor reduce_l2_norm_at(const X& x, const axis_list& axes, const std::source_location& where, Keep... keep) {
    const any_tensor all = floating_tensor("reduce_l2_norm", x, where);
    return any_tensor(sqrt(rill::reduce_sum(square(all), axes, keep..., where)));
}

} // namespace detail

/// The Euclidean norm over axes: the root of the sum of squares. Gradient: g x / norm, NaN where the norm is 0, as TensorFlow's. All axes
/// without a list; negative axes count from the end.
template <int... Axes, graph_operand X>
auto reduce_l2_norm(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm<Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_l2_norm(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm<Axes...>(x, where, keep_dims);
}

/// Along axes known at run time only: reduce_l2_norm(x, {0, -1}).
template <graph_operand X>
any_tensor reduce_l2_norm(const X& x, const axis_list& axes,
                          const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm_at(x, axes, where);
}
template <graph_operand X>
any_tensor reduce_l2_norm(const X& x, const axis_list& axes, keep_dims_t,
                          const std::source_location& where = std::source_location::current()) {
    return detail::reduce_l2_norm_at(x, axes, where, keep_dims);
}

}} // namespace rill::RILL_ABI
