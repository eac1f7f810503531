// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/reduce_l2_norm.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Divides x by norms along some axes. A norm counts as sqrt(epsilon) at least.
template <class X, class N> auto over_norms(const X& x, const N& norms, double epsilon) {
    return narrowed(x, widened(x) / maximum(norms, std::sqrt(epsilon)));
}

template <class X, class A>
auto l2_normalize_at(const X& x, const A& axes, double epsilon, const std::source_location& where) {
    static_assert(are_real_floating<X>, "l2_normalize: the elements must be floating");
    require_floating("l2_normalize", x, where);
    require_axes("l2_normalize", x, to_axes(axes), where);
    const auto all = sealed(x); // read twice
    return over_norms(all, wide_l2_norm_at(all, axes, keep_dims, where), epsilon);
}

} // namespace detail

/// Divides x by its norm along the axes: l2_normalize<1>(x), l2_normalize<1>(x, 1e-6). The sum of squares counts as `epsilon` at least.
/// Without a list, it uses all axes. The norms are those of reduce_l2_norm, which avoid overflow. Shape: that of x.
template <int... Axes, graph_operand X, std::floating_point E = double>
auto l2_normalize(const X& x, E epsilon = E(1e-12),
                  const std::source_location& where = std::source_location::current()) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "l2_normalize: an axis is out of range, or named twice");
    static_assert(are_real_floating<X>, "l2_normalize: the elements must be floating");
    detail::require_floating("l2_normalize", x, where);
    detail::require_axes<Axes...>("l2_normalize", x, where);
    const auto all = sealed(x); // read twice
    return detail::over_norms(all, detail::wide_l2_norm<Axes...>(all, where, keep_dims), static_cast<double>(epsilon));
}

/// Normalizes along axes known only at run time: l2_normalize(x, 1), l2_normalize(x, {0, -1}), l2_normalize(x, 1,
/// 1e-6).
template <graph_operand X, runtime_axes A = axis_list>
auto l2_normalize(const X& x, const A& axes, double epsilon = 1e-12,
                  const std::source_location& where = std::source_location::current()) {
    return detail::l2_normalize_at(x, axes, epsilon, where);
}
template <graph_operand X, std::size_t N>
auto l2_normalize(const X& x, const int (&axes)[N], double epsilon = 1e-12,
                  const std::source_location& where = std::source_location::current()) {
    return detail::l2_normalize_at(x, std::to_array(axes), epsilon, where);
}

}} // namespace rill::RILL_ABI
