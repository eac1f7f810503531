// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <rill/ops/array/squeeze.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/squared_difference.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

template <bool Keep, int... Axes, class X> auto moments(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>) {
        static_assert(axes_exist<extents_of<X>, Axes...>, "moments: an axis is out of range, or named twice");
        static_assert(is_real_floating<value_type_of<X>>, "moments: the element type is not floating");
    }
    require_floating("moments", x, where);
    require_axes<Axes...>("moments", x, where);
    const auto all = sealed(x); // read twice
    if constexpr (Keep) {
        const auto mean = rill::reduce_mean<Axes...>(all, keep_dims, where);
        return std::tuple(mean, rill::reduce_mean<Axes...>(squared_difference(all, mean), keep_dims, where));
    } else if constexpr (sizeof...(Axes) == 0) {
        const auto mean = rill::reduce_mean(all, where);
        return std::tuple(mean, rill::reduce_mean(squared_difference(all, mean), where));
    } else {
        const auto mean = rill::reduce_mean<Axes...>(all, keep_dims, where);
        return std::tuple(squeeze<Axes...>(mean, where),
                          rill::reduce_mean<Axes...>(squared_difference(all, mean), where));
    }
}

template <class X, class A, class K>
auto moments_at(const X& x, const A& axes, K keep, const std::source_location& where) {
    static_assert(are_real_floating<X>, "moments: the element type is not floating");
    require_floating("moments", x, where);
    require_axes("moments", x, to_axes(axes), where);
    const auto all = sealed(x); // read twice
    const auto kept = rill::reduce_mean(all, axes, keep_dims, where);
    return std::tuple(rill::reduce_mean(all, axes, keep, where),
                      rill::reduce_mean(squared_difference(all, kept), axes, keep, where));
}

} // namespace detail

/// Computes the mean and the variance over axes: auto [mean, variance] = moments<0>(x). The variance of n elements is the sum
/// of squares divided by n. Without a list, it uses all axes; negative axes count from the end. Gradients: of both, also
/// through the mean in the variance.
template <int... Axes, graph_operand X>
auto moments(const X& x, const std::source_location& where = std::source_location::current()) {
    return detail::moments<false, Axes...>(x, where);
}
template <int... Axes, graph_operand X>
auto moments(const X& x, keep_dims_t, const std::source_location& where = std::source_location::current()) {
    return detail::moments<true, Axes...>(x, where);
}

/// Computes moments over axes known only at run time: moments(x, 0), moments(x, {0, -1}), moments(x, 0, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto moments(const X& x, const A& axes, K keep = {},
             const std::source_location& where = std::source_location::current()) {
    return detail::moments_at(x, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto moments(const X& x, const int (&axes)[N], K keep = {},
             const std::source_location& where = std::source_location::current()) {
    return detail::moments_at(x, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI
