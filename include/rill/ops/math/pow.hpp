// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <rill/core/half.hpp>
#include <rill/expr/apply.hpp>
#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/equal.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/not_equal.hpp>
#include <rill/ops/math/select.hpp>
#include <rill/ops/math/sub.hpp>

namespace rill { inline namespace RILL_ABI {

/// a to the power b. Accurate to 1 ulp for float and double. Integers wrap, and a negative integer exponent gives the truncated 1, -1 or 0.
/// Shape: a and b broadcast. Gradient: g conj(b a^(b-1)) (0 where a and b are 0) and g conj(y log(a)) (0 where a <= 0, of complex numbers
/// where a is 0).
struct pow_op {
    static constexpr auto name = "Pow";
    using domain_type = domains::numeric;
    using compiled_types = types::common;
    static constexpr bool divides = true; // an integer 0 to a negative power divides by zero
    template <class T> RILL_FN static T scalar(const T& a, const T& b) {
        if constexpr (is_integral<T>)
            return integer_power(lane<T>(a), lane<T>(b)).v;
        else if constexpr (is_complex<T>)
            return complex_power(a, b);
        else
            return std::pow(a, b);
    }
    template <class R> // xsimd's pow of integers goes through floats
        requires(!is_integral<typename R::value_type>)
    RILL_FN static auto registers(const R& a, const R& b) -> decltype(pow(a, b)) {
        return pow(a, b);
    }
    template <class V> RILL_FN static auto pullback(const V& a, const V& b, const V& y, const V& g) {
        // the log of 0 must not be computed, even unselected: its gradient would be 0 / 0
        const auto has_log = [&] {
            if constexpr (is_complex<typename V::value_type>)
                return not_equal(a, V(0));
            else
                return a > V(0);
        }();
        const V log_a = select(has_log, log(select(has_log, a, V(1))), V(0));
        // a^0 is constant in a: its slope must not become 0 times an infinite power
        const auto no_reciprocal = [&] {
            if constexpr (is_complex<typename V::value_type>)
                return equal(a, V(0));
            else
                return abs(a) < V(smallest<typename V::value_type>);
        }();
        const V less = b - V(1), power = select(equal(b, V(0)), select(no_reciprocal, V(0), less), less);
        const V slope = pow(a, power);
        return adjoints<V, V>(g * conj(b) * conj(slope), g * conj(y) * conj(log_a));
    }

private:
    /// The smallest normal number. The reciprocals of smaller ones may be infinite.
    template <class T>
    static constexpr double smallest = std::is_same_v<T, half>     ? 0x1p-14
                                       : std::is_same_v<T, double> ? 0x1p-1022
                                                                   : 0x1p-126;

    template <class T> RILL_HOST_DEVICE static lane<T> integer_power(lane<T> base, const lane<T>& exponent) {
        lane<T> result(1);
        if constexpr (std::is_signed_v<T>)
            if (exponent.v < 0) {
                if (base.v == 0) return result / base;
                return base.v == 1 || (base.v == -1 && exponent.v % 2 == 0) ? result : base.v == -1 ? base : lane<T>(0);
            }
        for (auto e = static_cast<std::make_unsigned_t<T>>(exponent.v); e != 0; e = static_cast<decltype(e)>(e >> 1)) {
            if (e & 1) result = result * base;
            base = base * base;
        }
        return result;
    }
    /// Computes a^b, with zero bases apart: std::pow takes the logarithm of a.
    template <class T> RILL_HOST_DEVICE static T complex_power(const T& a, const T& b) {
        if (b == T(0)) return T(1);
        return a == T(0) && b.real() > 0 ? T(0) : std::pow(a, b);
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto pow(const A& a, const B& b) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "pow: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "pow: the shapes do not broadcast");
    return apply<pow_op>(a, b);
}

}} // namespace rill::RILL_ABI
