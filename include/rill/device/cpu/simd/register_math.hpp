// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <rill/config.hpp>

// Elementary functions of a register of floats or doubles. They are accurate to about two units in the last place, and exact for zeros,
// infinities and NaN. The polynomials are minimax fits on the reduced interval, made for these functions. The code is branch-free:
// comparisons select values.
//
// V is a register of the C++ compiler (simd<T>, pack_math.hpp) or a register in machine code (value<T>, jit/vector_math.hpp). Beside
// arithmetic, comparisons and select, it has add_bits, shift_bits_left and shift_bits_right. They work on the bits of a number as an
// integer. These functions have a form for each kind of register: scaled, log_parts_of, log_at_ends and exact_beyond.
//
// A product that goes into a sum is written as fma. Compilers then contract nothing, so all levels with fma compute the same bits.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A C library function for numbers beyond +/-`most`, where the code for registers is inaccurate.
template <class T> struct exact_function {
    T (*run)(T);
    T most;
};
enum exact_number : int { exact_sine, exact_cosine, exact_tangent };
template <class T> inline constexpr T most_reduced_angle = sizeof(T) == 4 ? T(8192) : T(1 << 20);
template <class T>
inline constexpr std::array<exact_function<T>, 3> exact_functions{
    {{[](T x) { return std::sin(x); }, most_reduced_angle<T>},
     {[](T x) { return std::cos(x); }, most_reduced_angle<T>},
     {[](T x) { return std::tan(x); }, most_reduced_angle<T>}}};

inline namespace RILL_ISA { namespace register_math {

// ---- the bit fields of a float -------------------------------------------------------------------------------------------

template <class T> struct float_parts;
template <> struct float_parts<float> {
    using integer = std::uint32_t;
    static constexpr int fraction_bits = 23, exponent_bits = 8, bias = 127;
    static constexpr integer sqrt_half = 0x3f3504f3;
    // ln 2 in two parts; products of the first part with an exponent are exact even without fma.
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    static constexpr float exp_least = -104, exp_most = 89, expm1_least = -20, tanh_one = 10;
};
template <> struct float_parts<double> {
    using integer = std::uint64_t;
    static constexpr int fraction_bits = 52, exponent_bits = 11, bias = 1023;
    static constexpr integer sqrt_half = 0x3fe6a09e667f3bcd;
    static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    static constexpr double exp_least = -746, exp_most = 710, expm1_least = -40, tanh_one = 20;
};
template <class V> using number_of = typename V::value_type;
template <class V> using parts_of = float_parts<number_of<V>>;
template <class V> using bits_type = typename parts_of<V>::integer;
template <class V> inline constexpr bool is_single = sizeof(number_of<V>) == 4;

template <class V> RILL_FN V of_bits(bits_type<V> bits) { return V(std::bit_cast<number_of<V>>(bits)); }
template <class V> RILL_FN V sign_bit(V x) { return x & V(number_of<V>(-0.0)); }

/// Evaluates c0 + c1 x + c2 x² + ….
template <class V> RILL_FN V polynomial(V, number_of<V> c0) { return V(c0); }
template <class V, class... C> RILL_FN V polynomial(V x, number_of<V> c0, C... c) {
    return fma(polynomial(x, c...), x, V(c0));
}

/// x · factor, rounded to an integer. Adding a large number leaves no bits for the fraction; the sum's low bits hold the integer.
template <class V> struct rounded_number {
    using T = number_of<V>;
    static constexpr T much = T(3) / (2 * std::numeric_limits<T>::epsilon()); // 1.5 · 2^23
    V sum;
    RILL_FN rounded_number(V x, T factor) : sum(fma(x, V(factor), V(much))) {}
    RILL_FN V value() const { return sum - V(much); }
    /// Returns 2^(n + extra), if that is a normal number.
    RILL_FN V power_of_two(int extra = 0) const {
        using parts = parts_of<V>;
        return shift_bits_left(add_bits(sum, static_cast<bits_type<V>>(parts::bias + extra)), parts::fraction_bits);
    }
};

/// Computes p · 2^n for p near 1 and n from exp: overflows to infinity, rounds to subnormals.
template <class V> RILL_FN V scaled_in_two_steps(V p, const rounded_number<V>& n) {
    using T = number_of<V>;
    using parts = parts_of<V>;
    constexpr auto detour = bits_type<V>(1)
                            << (parts::exponent_bits - 2); // 64 (float): scales small powers into the normal range
    const auto small = n.sum < V(T(rounded_number<V>::much - parts::bias + 3));
    const V up = select(small, of_bits<V>(detour), V(T(0)));
    const V biased = add_bits(add_bits(n.sum, bits_type<V>(parts::bias - 1)), up);
    const V rest = select(small, of_bits<V>((parts::bias + 1 - detour) << parts::fraction_bits), V(T(2)));
    return p * shift_bits_left(biased, parts::fraction_bits) * rest;
}

// ---- exponentials ----------------------------------------------------------------------------------------------------------

/// Range reduction: x = n ln 2 + r with |r| <= ln 2 / 2.
template <class V> struct exp_reduction {
    rounded_number<V> n;
    V r;
    RILL_FN explicit exp_reduction(V x) : n(x, number_of<V>(1.44269504088896340736)), r(reduced(x, n.value())) {}

private:
    RILL_FN static V reduced(V x, V i) {
        return fnma(i, V(parts_of<V>::ln2_low), fnma(i, V(parts_of<V>::ln2_high), x));
    }
};

/// Computes (exp(r) - 1 - r) / r².
template <class V> RILL_FN V exp_polynomial(V r) {
    if constexpr (is_single<V>)
        return polynomial(r, 0.4999999343f, 0.166665204f, 0.04166839081f, 0.008368745157f, 0.001381453895f);
    else
        return polynomial(r, 0.500000000000001067, 0.166666666666664115, 0.0416666666665297273, 0.00833333333349498126,
                          0.0013888888943760225, 0.000198412695057676191, 0.0000248014929493591088,
                          2.75575868079718333e-6, 2.76303063475880097e-7, 2.50000178461193576e-8);
}

template <class V> RILL_FN V exp(V x) {
    using T = number_of<V>;
    using parts = parts_of<V>;
    // Beyond the bounds all results are infinite or zero; NaN passes through.
    const exp_reduction<V> e(larger(V(parts::exp_least), smaller(V(parts::exp_most), x)));
    const V one(T(1));
    return scaled(fma(fma(exp_polynomial(e.r), e.r, one), e.r, one), e.n);
}

/// Computes the same as exp_polynomial, more accurately.
template <class V> RILL_FN V expm1_polynomial(V r) {
    if constexpr (is_single<V>)
        return polynomial(r, 0.5000000044f, 0.1666666637f, 0.04166636043f, 0.008333389457f, 0.001394066847f,
                          0.0001984588225f);
    else
        return polynomial(r, 0.500000000000000001, 0.166666666666666765, 0.0416666666666665081, 0.00833333333332165421,
                          0.00138888888889626059, 0.000198412698860735043, 0.00002480158717222939,
                          2.75572442540270389e-6, 2.75574027756408536e-7, 2.51090245464078075e-8,
                          2.08753290368516693e-9);
}

/// Computes (exp(x) - 1) / 2, for arguments whose exponential and its inverse are far from overflow.
template <class V> RILL_FN V half_expm1(V x) {
    const exp_reduction<V> e(x);
    const V s = e.n.power_of_two(-1);
    return fma(s, fma(e.r * e.r, expm1_polynomial(e.r), e.r), s - V(number_of<V>(0.5)));
}

template <class V> RILL_FN V expm1(V x) {
    using parts = parts_of<V>;
    const V h = half_expm1(larger(V(parts::expm1_least), smaller(V(parts::exp_most), x)));
    // h + h lost bits of subnormals, and -0
    return select(abs(x) < V(std::numeric_limits<number_of<V>>::epsilon() / 4), x, h + h);
}

/// Computes tanh |x| as d = h / (h + 1) with h = expm1(2|x|) / 2, never above 1.
/// Small results use h - h d, which avoids the rounding error of the division.
template <class V> RILL_FN V tanh_by_exponential(V x) {
    using T = number_of<V>;
    const V a = smaller(V(parts_of<V>::tanh_one), abs(x)); // NaN passes through
    const V h = half_expm1(a + a), d = h / (h + V(T(1)));
    return select(h < V(T(0.5)), fnma(h, d, h), d) | sign_bit(x);
}

/// Evaluates c[K] + c[K + 1] r + ….
template <int K, class V, class Table> RILL_FN V polynomial_of_rows(V r, const Table& c) {
    if constexpr (K <= Table::degree)
        return fma(polynomial_of_rows<K + 1>(r, c), r, c[K]);
    else
        return c[K];
}

/// Computes tanh(x) by a table of polynomials (tanh_rows.hpp). A NaN selects an arbitrary entry and passes through r.
template <class Table, class V> RILL_FN V tanh_by_table(V x) {
    const V a = smaller(V(Table::most), abs(x));
    const Table table(fma(a, V(Table::scale), V(Table::shift)));
    return polynomial_of_rows<1>(a - table[0], table) | sign_bit(x);
}

// ---- logarithms ------------------------------------------------------------------------------------------------------------

/// x = 2^exponent (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2).
template <class V> struct log_parts {
    V exponent, f;
};

/// Range reduction for positive normal x.
template <class V> struct log_reduction {
    using T = number_of<V>;
    using parts = parts_of<V>;
    static constexpr bits_type<V> one = bits_type<V>(parts::bias) << parts::fraction_bits;
    static constexpr T implicit_bit = 1 / std::numeric_limits<T>::epsilon(); // 2^23 (float): its low bits count units

    V shifted, biased, f, exponent; // biased: exponent + bias, as an integer
    RILL_FN explicit log_reduction(V x)
        : shifted(add_bits(x, one - parts::sqrt_half)), biased(shift_bits_right(shifted, parts::fraction_bits)),
          f(add_bits(shifted & of_bits<V>((bits_type<V>(1) << parts::fraction_bits) - 1), parts::sqrt_half) - V(T(1))),
          exponent((biased | V(implicit_bit)) - V(implicit_bit + T(parts::bias))) {}
};

/// Accepts subnormal x.
template <class V> RILL_FN log_parts<V> log_parts_in_steps(V x) {
    using T = number_of<V>;
    using limits = std::numeric_limits<T>;
    const auto subnormal = x < V(limits::min());
    const log_reduction<V> r(select(subnormal, x * V(1 / limits::epsilon()), x));
    return {r.exponent - select(subnormal, V(T(limits::digits - 1)), V(T(0))), r.f};
}

/// Returns the logarithm of x: y for positive finite x, and the special values for all other x.
template <class V> RILL_FN V log_at_ends_in_steps(V x, V y) {
    using limits = std::numeric_limits<number_of<V>>;
    const V infinity(limits::infinity()), zero(number_of<V>(0));
    const V upper = select(x < infinity, y, x); // for infinity and NaN
    const V lower = select(x == zero, -infinity, V(limits::quiet_NaN()));
    return select(x <= zero, lower, upper);
}

/// Computes exponent · ln 2 + log(1 + f).
template <class V> RILL_FN V log_of_parts(V exponent, V f) {
    using T = number_of<V>;
    const V high(parts_of<V>::ln2_high), low(parts_of<V>::ln2_low), half_f = V(T(0.5)) * f;
    if constexpr (is_single<V>) {
        const V p = polynomial(f, 0.333333126f, -0.250000096f, 0.2000211866f, -0.1666799584f, 0.1421955242f,
                               -0.1240558915f, 0.1188816206f, -0.1167565031f, 0.06746639084f);
        const V tail = fma(exponent, low, f * f * f * p);
        return fma(exponent, high, f + fnma(half_f, f, tail));
    } else { // by atanh(s): one division is cheaper than twenty terms
        const V s = f / (f + V(T(2))), z = s * s, half_square = half_f * f;
        const V p = polynomial(z, 0.666666666666666975, 0.399999999998978878, 0.285714286266514069,
                               0.222222110317493245, 0.18182896207631686, 0.153314977645068184, 0.146190969920122785);
        return fma(exponent, high, f - (half_square - fma(s, fma(z, p, half_square), exponent * low)));
    }
}

template <class V> RILL_FN V log(V x) {
    const auto parts = log_parts_of(x);
    return log_at_ends(x, log_of_parts(parts.exponent, parts.f));
}

/// Computes log(1 + x); adds the rounding error of 1 + x to f.
template <class V> RILL_FN V log1p(V x) {
    using T = number_of<V>;
    using parts = parts_of<V>;
    const V one(T(1)), u = one + x, x_in_u = u - one, one_in_u = u - x_in_u;
    const V lost = (one - one_in_u) + (x - x_in_u);
    const log_reduction<V> r(u);
    // 2^(1 - exponent), zero for the largest exponent; 2 bias + 1 - biased, as ~biased + 2 bias + 2
    const V shrink = shift_bits_left(
        add_bits(r.biased ^ of_bits<V>(~bits_type<V>(0)), bits_type<V>(2 * parts::bias + 2)), parts::fraction_bits);
    const V y = log_at_ends(u, log_of_parts(r.exponent, fma(lost * V(T(0.5)), shrink, r.f)));
    return select(abs(x) < V(std::numeric_limits<T>::epsilon() / 4), x, y); // keeps -0
}

// ---- sines -----------------------------------------------------------------------------------------------------------------

/// Range reduction: |x| = n π/2 + r + behind with |r| <= π/4. π/2 is split into parts; their products with n are exact up to
/// x = most_reduced_angle. `behind` is the part of the remainder below the last place of a float. It is added at the end, since loops over
/// scalars wait for every operation on the path to a sine. For doubles it is 0: the parts are shorter, and more of them matter.
template <class V> struct angle {
    using T = number_of<V>;
    V x;
    rounded_number<V> n;
    V r, behind;

    RILL_FN explicit angle(V number) : x(abs(number)), n(x, T(0.636619772367581343076)), r(T(0)), behind(T(0)) {
        const V m = n.value();
        if constexpr (is_single<V>)
            reduce(m, 0x1.92p+0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f);
        else
            reduce(m, 0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104);
    }
    /// Returns true in lanes where n is odd.
    RILL_FN auto odd() const { return (shift_bits_left(n.sum, bits - 1) | V(T(1))) < V(T(0)); }
    /// Returns the sign bit of the quadrant: bit 1 of n + ahead.
    RILL_FN V sign(int ahead) const {
        return sign_bit(shift_bits_left(add_bits(n.sum, static_cast<bits_type<V>>(ahead)), bits - 2));
    }
    RILL_FN V sine() const {
        const V z = r * r;
        if constexpr (is_single<V>)
            return r + fma(z * r, sine_polynomial(z), behind);
        else
            return fma(z * r, sine_polynomial(z), r);
    }
    RILL_FN V cosine() const {
        const V z = r * r, usual = fma(z, V(T(-0.5)), V(T(1)));
        if constexpr (is_single<V>)
            return usual + fma(z * z, cosine_polynomial(z), -(behind * r));
        else
            return fma(z * z, cosine_polynomial(z), usual);
    }

private:
    static constexpr int bits = 8 * sizeof(T);

    /// Subtracts m · (first + second + third + last) from x. The first difference is exact, and for floats also the second.
    /// The rounding error of the next difference goes into the remaining parts.
    RILL_FN void reduce(V m, T first, T second, T third, T last) {
        const V p2(second), p3(third), p4(last), rest = fnma(m, V(first), x);
        if constexpr (is_single<V>) {
            const V next = fnma(m, p2, rest);
            r = fnma(m, p3, next);
            behind = fnma(m, p4, fnma(m, p3, next - r));
        } else {
            const V high = fnma(m, p2, rest);
            r = high + fnma(m, p4, fnma(m, p3, fnma(m, p2, rest - high)));
        }
    }
    RILL_FN static V sine_polynomial(V z) {
        if constexpr (is_single<V>)
            return fma(z * z, fma(z, V(2.718046476e-6f), V(-0.0001983930442f)),
                       fma(z, V(0.008333329281f), V(-0.1666666664f)));
        else
            return polynomial(z, -0.166666666666666303, 0.00833333333332200551, -0.000198412698294954994,
                              2.75573135876215004e-6, -2.50507423082893381e-8, 1.58959047646725132e-10);
    }
    RILL_FN static V cosine_polynomial(V z) {
        if constexpr (is_single<V>)
            return polynomial(z, 0.04166664555f, -0.001388730987f, 2.4432413e-5f);
        else
            return polynomial(z, 0.041666666666666592, -0.00138888888888728951, 0.0000248015872887481877,
                              -2.7557314148622772e-7, 2.08756965724071606e-9, -1.13583104782621701e-11);
    }
};

template <class V> RILL_FN V sin(V x) {
    const angle<V> a(x);
    return exact_beyond(select(a.odd(), a.cosine(), a.sine()) ^ a.sign(0) ^ sign_bit(x), a.x, x, exact_sine);
}
template <class V> RILL_FN V cos(V x) {
    const angle<V> a(x);
    return exact_beyond(select(a.odd(), a.sine(), a.cosine()) ^ a.sign(1), a.x, x, exact_cosine);
}
template <class V> RILL_FN V tan(V x) {
    const angle<V> a(x);
    const V s = a.sine(), c = a.cosine();
    return exact_beyond((select(a.odd(), -c, s) / select(a.odd(), s, c)) ^ sign_bit(x), a.x, x, exact_tangent);
}

// ---- roots ------------------------------------------------------------------------------------------------------------------

template <class V> RILL_FN V rsqrt(V x) { return V(number_of<V>(1)) / sqrt(x); }

}} // namespace RILL_ISA::register_math

}}} // namespace rill::RILL_ABI::detail
