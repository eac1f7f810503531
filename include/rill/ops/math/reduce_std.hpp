// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include <rill/ops/math/apply_where.hpp>
#include <rill/ops/math/not_equal.hpp>
#include <rill/ops/math/reduce_l2_norm.hpp>
#include <rill/ops/math/reduce_variance.hpp>
#include <rill/ops/math/sqrt.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the roots of variances of widened elements, in the type of x. The gradient is 0 where the variance is 0.
template <class X, class V> auto roots_of_variances(const X& x, const V& variances) {
    const auto read = sealed(variances); // several times
    return narrowed(x, apply_where(not_equal(read, 0.0), read, [](const auto& v) { return sqrt(v); }, 0.0));
}

template <int... Axes, class X, class... Keep>
auto reduce_std(const X& x, const std::source_location& where, Keep... keep) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "reduce_std: an axis is out of range, or named twice");
    static_assert(are_real_floating<X>, "reduce_std: the elements must be floating");
    require_floating("reduce_std", x, where);
    require_axes<Axes...>("reduce_std", x, where);
    return roots_of_variances(x, rill::reduce_variance<Axes...>(widened(x), keep..., where));
}

template <class X, class A, class K>
auto reduce_std_at(const X& x, const A& axes, K keep, const std::source_location& where) {
    static_assert(are_real_floating<X>, "reduce_std: the elements must be floating");
    require_floating("reduce_std", x, where);
    require_axes("reduce_std", x, to_axes(axes), where);
    return roots_of_variances(x, rill::reduce_variance(widened(x), axes, keep, where));
}

} // namespace detail

/// Returns the standard deviation over axes, the root of reduce_variance. Variances of half and bfloat16 are computed in float. Gradient: g
/// (x - mean) / (n std), 0 where the result is 0. Without a list, all axes are reduced; negative axes count from the end.
template <int... Axes, graph_operand X>
auto reduce_std(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_std<Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto reduce_std(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::reduce_std<Axes...>(x, where, keep_dims);
}

/// Overload for axes known only at run time: reduce_std(x, 1), reduce_std(x, {0, -1}), reduce_std(x, 1, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto reduce_std(const X& x, const A& axes, K keep = {},
                const std::source_location& where = std::source_location::current()) {
    return detail::reduce_std_at(x, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto reduce_std(const X& x, const int (&axes)[N], K keep = {},
                const std::source_location& where = std::source_location::current()) {
    return detail::reduce_std_at(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
