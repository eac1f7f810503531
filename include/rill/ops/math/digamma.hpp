// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include <rill/expr/apply.hpp>
#include <rill/ops/math/mul.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail { inline namespace RILL_ISA {

inline RILL_HOST_DEVICE double digamma(double x) {
    constexpr double pi = 3.14159265358979323846;
    double sum = 0;
    if (x <= 0) { // reflection; the tangent is periodic, so the distance to the nearest integer suffices
        const double off = x - std::nearbyint(x);
        if (!(off != 0)) return std::numeric_limits<double>::quiet_NaN(); // also at -infinity
        sum = -pi / std::tan(pi * off);
        x = 1 - x;
    }
    for (; x < 10; x += 1) sum -= 1 / x;
    const double z = 1 / x / x; // the asymptotic series of Bernoulli numbers over 2 k
    const double tail =
        z * (1. / 12 -
             z * (1. / 120 -
                  z * (1. / 252 -
                       z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z * (1. / 12 - z * (3617. / 8160))))))));
    return sum + std::log(x) - 0.5 / x - tail;
}

}} // namespace detail::RILL_ISA

/// The derivative of lgamma. At 0, -1, -2, … it is NaN. Shape: that of x. Gradient: g polygamma(1, x).
struct digamma_op {
    static constexpr auto name = "Digamma";
    using domain_type = domains::real_floating;
    using compiled_types = types::floats;
    template <class T> RILL_FN static T scalar(const T& x) { return static_cast<T>(detail::digamma(x)); }
    template <class V> RILL_FN static auto pullback(const V& x, const V&, const V& g) { return g * polygamma(V(1), x); }
};

template <elementwise_operand X> RILL_FRONT auto digamma(const X& x) { return apply<digamma_op>(x); }

}} // namespace rill::RILL_ABI

#include <rill/ops/math/polygamma.hpp> // its pullback uses polygamma: included at the foot, since each needs the other
