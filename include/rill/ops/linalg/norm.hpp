// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <rill/ops/linalg/svd.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/reduce_l2_norm.hpp>
#include <rill/ops/math/reduce_max.hpp>
#include <rill/ops/math/reduce_sum.hpp>

namespace rill { inline namespace RILL_ABI {

/// The order p of a norm: for vectors, the p-th root of the sum of p-th powers. Infinity is an order too.
struct norm_order {
    double p;
    constexpr norm_order(double order) : p(order) {}
};
inline constexpr norm_order infinite_order{std::numeric_limits<double>::infinity()};

namespace detail {

void check_norm_order(norm_order order, bool of_matrices, const std::source_location& where);

// rill::, as detail has functions of these names, for which the axis 0 or 1 could be a bool.
template <class X, class Result, int... Axes>
Result vector_norm(const X& x, norm_order order, const std::source_location& where) {
    check_norm_order(order, false, where);
    if (order.p == 1) return Result(rill::reduce_sum<Axes...>(abs(x), where));
    if (order.p == 2) return Result(rill::reduce_l2_norm<Axes...>(x, where));
    if (std::isinf(order.p)) return Result(rill::reduce_max<Axes...>(abs(x), where));
    return Result(pow(rill::reduce_sum<Axes...>(pow(abs(x), order.p), where), 1 / order.p));
}

} // namespace detail

/// Returns the Euclidean norm: norm(x) of all elements, norm<-1>(x) of each row, norm<0, 1>(x) of each matrix (Frobenius).
template <int... Axes, graph_operand X>
auto norm(const X& x, const std::source_location& where = std::source_location::current()) {
    return reduce_l2_norm<Axes...>(x, where);
}
/// Overload for axes known only at run time: norm(x, {1}), norm(x, {0, -1}, keep_dims). The axes are in braces or a list, because a lone
/// number is an order.
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
    requires(!host_integer<A>)
auto norm(const X& x, const A& axes, K keep = {}, const std::source_location& where = std::source_location::current()) {
    return reduce_l2_norm(x, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto norm(const X& x, const int (&axes)[N], K keep = {},
          const std::source_location& where = std::source_location::current()) {
    return reduce_l2_norm(x, std::to_array(axes), keep, where);
}

/// Returns the norm of another order: norm<-1>(x, 1), norm<-1>(x, infinite_order) of each vector along an axis. Without an axis, it is the
/// norm of all elements. norm<0, 1>(m, 1) is a norm of matrices: 1 for the largest column sum of magnitudes, infinite_order for the largest
/// row sum. Order 2 is the largest singular value, over the last two axes.
template <int... Axes, graph_operand X>
auto norm(const X& x, norm_order order, const std::source_location& where = std::source_location::current()) {
    using result = std::remove_cvref_t<decltype(reduce_l2_norm<Axes...>(x, where))>;
    if constexpr (sizeof...(Axes) != 2) {
        return detail::vector_norm<X, result, Axes...>(x, order, where);
    } else {
        constexpr std::array<int, 2> given{Axes...};
        constexpr auto at = [](int axis) {
            if constexpr (typed_operand<X>)
                return rules::normal_axis(axis, extents_of<X>::rank);
            else
                return axis;
        };
        constexpr int rows = at(given[0]), columns = at(given[1]);
        static_assert((rows < 0) == (columns < 0), "norm: axes of a tensor of unknown rank must have one sign");
        detail::check_norm_order(order, true, where);
        // negative axes count from the end of the remaining axes
        constexpr auto after = [](int axis, int gone) {
            return axis < 0 ? (axis < gone ? axis + 1 : axis) : axis > gone ? axis - 1 : axis;
        };
        const auto magnitudes = sealed(abs(x));
        if (order.p == 1) return result(reduce_max<after(columns, rows)>(reduce_sum<rows>(magnitudes, where), where));
        if (std::isinf(order.p))
            return result(reduce_max<after(rows, columns)>(reduce_sum<columns>(magnitudes, where), where));
        constexpr int first = rows < columns ? rows : columns;
        constexpr bool trailing = [] {
            if constexpr (typed_operand<X>)
                return first == extents_of<X>::rank - 2;
            else
                return first == -2;
        }();
        if constexpr (trailing)
            return result(reduce_max<-1>(singular_values(x, where), where));
        else
            throw invalid_argument("norm: the norm of order 2 of matrices goes over the last two axes" +
                                   detail::at_place(where));
    }
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void check_norm_order(norm_order order, bool of_matrices, const std::source_location& where) {
    const bool one_of_three = order.p == 1 || order.p == 2 || std::isinf(order.p);
    if (!(order.p > 0) || (of_matrices && !one_of_three))
        throw invalid_argument("norm: the order is " + std::to_string(order.p) + "; accepted " +
                               (of_matrices ? "for matrices are 1, 2 and infinite_order" : "is any number above 0") +
                               at_place(where));
}

}}} // namespace rill::RILL_ABI::detail
#endif
