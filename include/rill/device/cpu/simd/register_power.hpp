// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <rill/device/cpu/simd/register_math.hpp>

// Powers of a register of floats or doubles. register_math.hpp says what a register V is.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA { namespace register_math {

/// Returns x to the power y: r for usual numbers, where r is |x| to the power y, and the special values of the C standard for others.
template <class V> RILL_FN V power_at_ends(V x, V y, V r) {
    using T = number_of<V>;
    const V zero(T(0)), one(T(1)), a = abs(x), infinity(std::numeric_limits<T>::infinity());
    r = select(a == one || y == zero, one, r); // also for infinite y, and for infinite and zero x
    const V half_y = V(T(0.5)) * y;
    const auto integral = floor(y) == y, odd = integral && floor(half_y) != half_y;
    r = select(odd, r | sign_bit(x), r);
    r = select(x < zero && !integral && a < infinity, V(std::numeric_limits<T>::quiet_NaN()), r);
    return select((x == x || y == zero) && (y == y || x == one), r, x + y);
}

/// Computes exp(y log|x|), for power_at_ends. In double, its error of 1e-14 vanishes when rounded to float.
template <class V> RILL_FN V rough_power(V x, V y) { return register_math::exp(y * register_math::log(abs(x))); }

/// An unevaluated sum. `low` is about as small as the rounding error of `high`.
template <class V> struct two_parts {
    V high, low;

    /// Returns a + b for |a| >= |b| or a = 0.
    RILL_FN static two_parts sum(V a, V b) {
        const V total = a + b;
        return {total, b - (total - a)};
    }
    RILL_FN friend two_parts operator*(two_parts x, two_parts y) {
        const V product = x.high * y.high, excess = fnma(x.high, y.high, product);
        return {product, fma(x.high, y.low, x.low * y.high) - excess};
    }
};

/// Computes log2(x) for doubles to 2^-65 of its fraction: x = 2^exponent m, log2(m) = 2 / ln 2 · atanh(s), s = (m - 1) / (m + 1).
template <class V> RILL_FN two_parts<V> log2_in_parts(V x) {
    using parts = two_parts<V>;
    const auto [exponent, f] = log_parts_of(x);
    const V one(1.0), m = f + one, divisor = m + one, divisor_low = m - (divisor - one), inverse = one / divisor;
    const V quotient = f * inverse;
    const parts s{quotient, fnma(quotient, divisor_low, fnma(quotient, divisor, f)) * inverse};
    const parts z = s * s; // atanh(s) = s (1 + z (1/3 + z (1/5 + z (…))))
    const V p = polynomial(z.high, 0.14285714285049828, 0.1111111125995036, 0.09090892184826568, 0.07693378595557764,
                           0.0662841074458186, 0.0659814502014869);
    const V fifth(0.20000000000001128), high = fma(z.high, p, fifth);
    const parts inner = z * parts{high, fma(z.high, p, fifth - high)};
    const parts third = parts::sum(V(0x1.5555555555555p-2), inner.high);
    const parts beyond_one = z * parts{third.high, third.low + (inner.low + V(0x1.5555555555555p-56))};
    const parts slope = s * parts{V(0x1.71547652b82fep+1), V(0x1.777d0ffda0d24p-55)}, rest = slope * beyond_one;
    const parts fraction = parts::sum(slope.high, rest.high), all = parts::sum(exponent, fraction.high);
    return {all.high, all.low + (fraction.low + (slope.low + rest.low))};
}

/// Computes 2^x for doubles.
template <class V> RILL_FN V exp2_of_parts(two_parts<V> x) {
    using parts = two_parts<V>;
    // Beyond the bounds all results are infinite or zero, and `low` has no meaning; NaN passes through.
    const V one(1.0), bounded = larger(V(-1080.0), smaller(V(1025.0), x.high));
    const rounded_number<V> n(bounded, 1.0);
    const parts fraction = parts::sum(bounded - n.value(), select(bounded == x.high, x.low, V(0.0)));
    const parts r = fraction * parts{V(0x1.62e42fefa39efp-1), V(0x1.abc9e3b39803fp-56)}; // ln 2
    const parts first = parts::sum(one, r.high);
    return scaled(first.high + (first.low + fma(r.high * r.high, expm1_polynomial(r.high), r.low)), n);
}

/// Computes x to the power y for doubles, to less than one unit in the last place. It needs an fma that rounds once.
template <class V> RILL_FN V pow(V x, V y) {
    const V a = abs(x);
    const two_parts<V> log2 = log2_in_parts(a);
    const V log2_high = log_at_ends(a, log2.high), high = y * log2_high, excess = fnma(y, log2_high, high);
    return power_at_ends(x, y, exp2_of_parts(two_parts<V>{high, fma(y, log2.low, -excess)}));
}

}}}}} // namespace rill::RILL_ABI::detail::RILL_ISA::register_math
