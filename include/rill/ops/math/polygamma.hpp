// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail { inline namespace RILL_ISA {
RILL_HOST_DEVICE double polygamma(double n, double x);
}} // namespace detail::RILL_ISA

/// The n-th derivative of digamma at x: polygamma(n, x). The result is NaN unless n is 0, 1, 2, … Shape: n and x
/// broadcast. Gradient: g polygamma(n + 1, x) to x, 0 to n.
struct polygamma_op {
    static constexpr auto name = "Polygamma";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& n, const T& x) {
        return static_cast<T>(detail::polygamma(n, x));
    }
    template <class V> RILL_FN static auto pullback(const V& n, const V& x, const V&, const V& g) {
        return adjoints<V, V>(V(0), g * polygamma(n + V(1), x));
    }
};

template <class A, class B>
    requires elementwise_pair<A, B>
RILL_FRONT auto polygamma(const A& n, const B& x) {
    static_assert(dtypes_agree<dtype_tag<A>, dtype_tag<B>>, "polygamma: the dtypes differ; convert with cast<T>()");
    static_assert(shapes_broadcast<extents_of<A>, extents_of<B>>, "polygamma: the shapes do not broadcast");
    return apply<polygamma_op>(n, x);
}

}} // namespace rill::RILL_ABI

#include <rill/ops/math/digamma.hpp> // its value is digamma where n is 0, whose pullback needs this op

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Computes the sum of (q + k)^-s over all k >= 0, for a whole s > 1 and q > 0. It adds some terms and estimates the
/// rest by the Euler-Maclaurin formula.
inline RILL_HOST_DEVICE double hurwitz_zeta(double s, double q) {
    if (std::isinf(q)) return 0;
    double sum = 0, term = 0;
    for (const double from = 12 + s; q < from; q += 1) {
        term = std::pow(q, -s);
        sum += term;
        if (term < 1e-17 * sum) return sum;
    }
    term = std::pow(q, -s);
    sum += term * q / (s - 1) + 0.5 * term;
    constexpr double coefficients[] = {1. / 12,
                                       -1. / 720,
                                       1. / 30240,
                                       -1. / 1209600,
                                       1. / 47900160,
                                       -5.284190138687493e-10,
                                       1.3382536530684679e-11,
                                       -3.3896802963225827e-13,
                                       8.586062056277845e-15,
                                       -2.174868698558062e-16};
    double factor = s * term / q;
    double k = s;
    for (const double c : coefficients) {
        sum += c * factor;
        if (std::abs(c * factor) < 1e-17 * std::abs(sum)) break;
        factor *= (k + 1) * (k + 2) / q / q;
        k += 2;
    }
    return sum;
}

inline RILL_HOST_DEVICE double polygamma(double n, double x) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (!(n >= 0) || n != std::floor(n) || std::isinf(n)) return nan;
    if (n == 0) return digamma(x);
    const double s = n + 1, sign = std::fmod(n, 2) != 0 ? 1 : -1;
    double zeta = nan;
    if (x > 0) {
        zeta = hurwitz_zeta(s, x);
    } else if (x == std::floor(x)) { // a pole; also -infinity
        return std::isinf(x) || sign < 0 ? nan : std::numeric_limits<double>::infinity();
    } else if (x < 0) { // the terms below 0 equal those of a finite sum from their distance to 0 on
        const double below = std::ceil(x) - x;
        zeta = hurwitz_zeta(s, 1 - below) + sign * hurwitz_zeta(s, below) - sign * hurwitz_zeta(s, 1 - x);
    }
    return sign * std::tgamma(s) * zeta;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
