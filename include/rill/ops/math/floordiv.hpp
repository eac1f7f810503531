// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// The largest integer that is at most the exact quotient a / b. As in Python, floordiv(a, b) b + mod(a, b) is a. An integer division by
/// zero fails the run. Shape: a and b broadcast. Gradient: 0 for any g.
struct floordiv_op {
    static constexpr auto name = "FloorDiv";
    using domain_type = domains::real;
    using compiled_types = types::common;
    static constexpr bool divides = true;
    template <class V>
        requires is_integral<typename V::value_type>
    RILL_FN static auto value(const V& a, const V& b) {
        const V q = a / b; // rounded towards zero
        return select(q * b != a && (a < V(0)) != (b < V(0)), q - V(1), q);
    }
    template <class T>
        requires(!is_integral<T>)
    RILL_FN static T scalar(const T& a, const T& b) {
        const T q = std::floor(a / b), r = q == T(0) ? a : std::fma(-q, b, a);
        return std::abs(q) < exact_below<T> && r != T(0) && (r < T(0)) != (b < T(0)) ? q - T(1) : q;
    }
    template <class R>
        requires(R::rounds_once && !is_integral<typename R::value_type>)
    RILL_FN static auto registers(const R& a, const R& b) {
        const R zero(0), q = floor(a / b), r = select(q == zero, a, fma(-q, b, a));
        const auto too_large = abs(q) < R(exact_below<typename R::value_type>) && r != zero && (r < zero) != (b < zero);
        return R(select(too_large, q - R(1), q));
    }
    template <class V> RILL_FN static auto pullback(const V&) { return adjoints<V, V>(V(0), V(0)); }

private:
    /// The bound below which floats represent every whole number. There, a quotient that was rounded up to a whole number has a remainder
    /// of the wrong sign.
    template <class T> static constexpr T exact_below = 1 / std::numeric_limits<T>::epsilon();
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto floordiv(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "floordiv: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "floordiv: the shapes do not broadcast");
    return apply<floordiv_op>(a, b);
}
/// Alias of floordiv, TensorFlow's other name.
template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto floor_div(const A& a, const B& b) {
    return floordiv(a, b);
}

}} // namespace rill::RILL_ABI
