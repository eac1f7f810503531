// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <rill/ops/array/expand_dims.hpp>
#include <rill/ops/array/stop_gradient.hpp>
#include <rill/ops/linalg/svd.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/apply_where.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/logical_and.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/not_equal.hpp>
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

/// Refuses elements that are not floating, and axes that do not exist, under the name of the norm.
template <int... Axes, class X> void require_norm_operand(const X& x, const std::source_location& where) {
    if constexpr (typed_operand<X>)
        static_assert(axes_exist<extents_of<X>, Axes...>, "norm: an axis is out of range, or named twice");
    static_assert(are_real_floating<X>, "norm: the elements must be floating");
    require_floating("norm", x, where);
    require_axes<Axes...>("norm", x, where);
}
template <class X> void require_norm_operand(const X& x, const axis_list& axes, const std::source_location& where) {
    static_assert(are_real_floating<X>, "norm: the elements must be floating");
    require_floating("norm", x, where);
    require_axes("norm", x, axes, where);
}

/// Throws invalid_argument if no norm of vectors has this order.
void check_vector_norm(norm_order order, const std::source_location& where);
/// Throws invalid_argument if no norm of matrices has this order, or order 2 goes over axes that are not the last two.
void check_matrix_norm(norm_order order, const axis_list& axes, const dims& shape, const std::source_location& where);

/// The reductions over axes of the template.
template <int... Axes> struct fixed_axes {
    std::source_location where;

    template <class X> auto sum(const X& x) const { return rill::reduce_sum<Axes...>(x, where); }
    template <class X> auto kept_sum(const X& x) const { return rill::reduce_sum<Axes...>(x, keep_dims, where); }
    template <class X> auto largest(const X& x) const { return rill::reduce_max<Axes...>(x, where); }
    template <class X> auto kept_largest(const X& x) const { return rill::reduce_max<Axes...>(x, keep_dims, where); }
    template <class X> auto l2_norm(const X& x) const { return sealed(rill::reduce_l2_norm<Axes...>(x, where)); }
};
/// The reductions over axes known only at run time.
template <class A, class K> struct given_axes {
    A axes;
    K keep;
    std::source_location where;

    template <class X> auto sum(const X& x) const { return rill::reduce_sum(x, axes, keep, where); }
    template <class X> auto kept_sum(const X& x) const { return rill::reduce_sum(x, axes, keep_dims, where); }
    template <class X> auto largest(const X& x) const { return rill::reduce_max(x, axes, keep, where); }
    template <class X> auto kept_largest(const X& x) const { return rill::reduce_max(x, axes, keep_dims, where); }
    template <class X> auto l2_norm(const X& x) const { return sealed(rill::reduce_l2_norm(x, axes, keep, where)); }
};

/// Computes a norm of vectors relative to the largest magnitude, so that no power overflows. Elements that are 0 have a gradient of 0.
template <class X, class Over> auto scaled_norm_of(const X& x, double p, const Over& over) {
    const auto magnitudes = sealed(abs(widened(x)));
    const auto largest = stop_gradient(over.kept_largest(magnitudes)); // the norm does not depend on the scale
    const auto scale =
        sealed(select(logical_and(largest > 0.0, largest < std::numeric_limits<double>::infinity()), largest, 1.0));
    const auto ratios = magnitudes / scale;
    const auto power = [](double exponent) { return [exponent](const auto& v) { return pow(v, exponent); }; };
    const auto powers = sealed(over.kept_sum(apply_where(not_equal(ratios, 0.0), ratios, power(p), 0.0)));
    const auto roots = apply_where(not_equal(powers, 0.0), powers, power(1 / p), 0.0);
    return narrowed(x, over.sum(scale * roots)); // a sum over axes of extent 1 removes them
}

template <class X, class Over>
auto vector_norm(const X& x, norm_order order, const Over& over) -> decltype(over.l2_norm(x)) {
    using result = decltype(over.l2_norm(x));
    check_vector_norm(order, over.where);
    if (order.p == 1) return result(over.sum(abs(x)));
    if (order.p == 2) return over.l2_norm(x);
    if (std::isinf(order.p)) return result(over.largest(abs(x)));
    return result(scaled_norm_of(x, order.p, over));
}

/// Returns a norm of matrices. `sums_over` gives the sums over the first or the second of their axes, which it keeps.
template <class X, class Over, class Sums>
auto matrix_norm(const X& x, norm_order order, const Over& over, const Sums& sums_over) -> decltype(over.l2_norm(x)) {
    using result = decltype(over.l2_norm(x));
    if (order.p == 2) { // untyped, as x may be no matrix where the number of axes is known only at run time
        const auto values = singular_values(any_tensor(x), over.where);
        return result(over.largest(expand_dims<-1>(values, over.where)));
    }
    return result(over.largest(sums_over(sealed(abs(x)), std::isinf(order.p))));
}

template <class X, class A, class K>
auto norm_at(const X& x, norm_order order, const A& axes, K keep, const std::source_location& where) {
    const given_axes<A, K> over{axes, keep, where};
    const axis_list all = to_axes(axes);
    require_norm_operand(x, all, where);
    if (all.count != 2) return vector_norm(x, order, over);
    check_matrix_norm(order, all, operand_type(x).shape, where);
    return matrix_norm(x, order, over, [&](const auto& magnitudes, bool second) {
        return rill::reduce_sum(magnitudes, all[second], keep_dims, where);
    });
}

} // namespace detail

/// Returns the Euclidean norm: norm(x) of all elements, norm<-1>(x) of each row, norm<0, 1>(x) of each matrix (Frobenius).
template <int... Axes, graph_operand X>
auto norm(const X& x, const std::source_location& where = std::source_location::current()) {
    detail::require_norm_operand<Axes...>(x, where);
    return reduce_l2_norm<Axes...>(x, where);
}
/// Overload for axes known only at run time: norm(x, {1}), norm(x, {0, -1}, keep_dims). The axes are in braces or a list, because a lone
/// number is an order.
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
    requires(!host_integer<A>)
auto norm(const X& x, const A& axes, K keep = {}, const std::source_location& where = std::source_location::current()) {
    detail::require_norm_operand(x, to_axes(axes), where);
    return reduce_l2_norm(x, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto norm(const X& x, const int (&axes)[N], K keep = {},
          const std::source_location& where = std::source_location::current()) {
    return norm(x, std::to_array(axes), keep, where);
}

/// Returns the norm of another order: norm<-1>(x, 1), norm<-1>(x, infinite_order) of each vector along an axis. Without an axis, it is the
/// norm of all elements. norm<0, 1>(m, 1) is a norm of matrices: 1 for the largest column sum of magnitudes, infinite_order for the largest
/// row sum. Order 2 is the largest singular value, over the last two axes. Elements that are 0 have a gradient of 0.
template <int... Axes, graph_operand X>
auto norm(const X& x, norm_order order, const std::source_location& where = std::source_location::current()) {
    detail::require_norm_operand<Axes...>(x, where);
    const detail::fixed_axes<Axes...> over{where};
    if constexpr (sizeof...(Axes) != 2) {
        return detail::vector_norm(x, order, over);
    } else {
        constexpr std::array<int, 2> given{Axes...};
        constexpr int rows = given[0], columns = given[1]; // named, as nvcc reads no subscripts among template arguments
        detail::check_matrix_norm(order, axis_list{Axes...}, detail::operand_type(x).shape, where);
        return detail::matrix_norm(x, order, over, [&](const auto& magnitudes, bool second) {
            return second ? any_tensor(rill::reduce_sum<columns>(magnitudes, keep_dims, where))
                          : any_tensor(rill::reduce_sum<rows>(magnitudes, keep_dims, where));
        });
    }
}
/// Overload for axes known only at run time: norm(x, 3, 1), norm(m, infinite_order, {0, 1}), norm(x, 1, {-1}, keep_dims).
template <graph_operand X, runtime_axes A = axis_list, dims_option K = drop_dims_t>
auto norm(const X& x, norm_order order, const A& axes, K keep = {},
          const std::source_location& where = std::source_location::current()) {
    return detail::norm_at(x, order, axes, keep, where);
}
template <graph_operand X, std::size_t N, dims_option K = drop_dims_t>
auto norm(const X& x, norm_order order, const int (&axes)[N], K keep = {},
          const std::source_location& where = std::source_location::current()) {
    return detail::norm_at(x, order, std::to_array(axes), keep, where);
}

}} // namespace rill::RILL_ABI

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void check_norm_order(norm_order order, bool accepted, const char* orders,
                                const std::source_location& where) {
    if (!accepted)
        throw invalid_argument("norm: the order is " + std::to_string(order.p) + "; accepted " + orders +
                               at_place(where));
}
RILL_COLD void check_vector_norm(norm_order order, const std::source_location& where) {
    check_norm_order(order, order.p > 0, "is any number above 0", where);
}
RILL_COLD void check_matrix_norm(norm_order order, const axis_list& axes, const dims& shape,
                                 const std::source_location& where) {
    check_norm_order(order, order.p == 1 || order.p == 2 || (std::isinf(order.p) && order.p > 0),
                     "for matrices are 1, 2 and infinite_order", where);
    const auto from_end = [&](int axis) { return axis >= 0 && shape.known_rank() ? axis - shape.rank : axis; };
    const int first = from_end(axes[0]), second = from_end(axes[1]);
    const bool are_last = (first == -2 && second == -1) || (first == -1 && second == -2);
    if (order.p == 2 && !are_last)
        throw invalid_argument("norm: the norm of order 2 of matrices goes over the last two axes" + at_place(where));
}

}}} // namespace rill::RILL_ABI::detail
#endif
