// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include <rill/device/cpu/simd/simd.hpp>
#include <rill/device/cpu/simd/tanh_table.hpp>

#if RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 4
#include <immintrin.h>
#endif

// Elementary functions of a register, accurate to about two units in the last place, exact for zeros, infinities and NaN.
// The polynomials are minimax fits on the reduced interval, made for these functions. The code is branch-free: comparisons select values.
// Exceptions are pow of doubles, and sines of huge numbers.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

#if RILL_SIMD_REGISTERS

// ---- the bit fields of a float -------------------------------------------------------------------------------------------

template <class T> struct float_parts;
template <> struct float_parts<float> {
    using integer = std::int32_t;
    static constexpr int fraction_bits = 23, exponent_bits = 8, bias = 127;
    static constexpr integer sqrt_half = 0x3f3504f3;
    // ln 2 in two parts; products of the first part with an exponent are exact even without fma.
    static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    static constexpr float exp_least = -104, exp_most = 89, expm1_least = -20, tanh_one = 10;
};
template <> struct float_parts<double> {
    using integer = std::int64_t;
    static constexpr int fraction_bits = 52, exponent_bits = 11, bias = 1023;
    static constexpr integer sqrt_half = 0x3fe6a09e667f3bcd;
    static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    static constexpr double exp_least = -746, exp_most = 710, expm1_least = -40, tanh_one = 20;
};
template <class T> using integer_of = simd<typename float_parts<T>::integer>;

template <class T> RILL_FN integer_of<T> bits_of(simd<T> x) { return std::bit_cast<integer_of<T>>(x); }
template <class T> RILL_FN simd<T> from_bits(integer_of<T> x) { return std::bit_cast<simd<T>>(x); }

/// Evaluates c0 + c1 x + c2 x² + ….
template <class T> RILL_FN simd<T> polynomial(simd<T>, T c0) { return simd<T>(c0); }
template <class T, class... C> RILL_FN simd<T> polynomial(simd<T> x, T c0, C... c) {
    return fma(polynomial(x, c...), x, simd<T>(c0));
}

/// x · factor, rounded to an integer. Adding a large number leaves no bits for the fraction; the sum's low bits hold the integer.
template <class T> struct rounded_number {
    simd<T> sum;
    static constexpr T much = T(3) / (2 * std::numeric_limits<T>::epsilon()); // 1.5 · 2^23
    RILL_FN rounded_number(simd<T> x, T factor) : sum(fma(x, simd<T>(factor), simd<T>(much))) {}
    RILL_FN simd<T> value() const { return sum - simd<T>(much); }
    RILL_FN integer_of<T> bits() const { return bits_of(sum); }
    /// Returns 2^(n + extra), if that is a normal number.
    RILL_FN simd<T> power_of_two(int extra = 0) const {
        using parts = float_parts<T>;
        using I = typename parts::integer;
        return from_bits<T>(
            shift_left(bits() + integer_of<T>(static_cast<I>(parts::bias + extra)), parts::fraction_bits));
    }
};

/// The product p · 2^n for p near 1 and n from exp: overflows to infinity, rounds to subnormals.
struct scale_in_two_steps {
    template <class T> RILL_FN static simd<T> run(simd<T> p, const rounded_number<T>& n) {
        using parts = float_parts<T>;
        using I = typename parts::integer;
        constexpr int detour = 1 << (parts::exponent_bits - 2); // 64 (float): scales small powers into the normal range
        const auto small = n.sum < simd<T>(rounded_number<T>::much - parts::bias + 3);
        const integer_of<T> up =
            std::bit_cast<integer_of<T>>(select(small, from_bits<T>(integer_of<T>(I(detour))), simd<T>(T(0))));
        const integer_of<T> biased = n.bits() + integer_of<T>(I(parts::bias - 1)) + up;
        const simd<T> rest = select(
            small, simd<T>(std::bit_cast<T>(I(parts::bias + 1 - detour) << parts::fraction_bits)), simd<T>(T(2)));
        return p * from_bits<T>(shift_left(biased, parts::fraction_bits)) * rest;
    }
};
#if RILL_ISA_LEVEL >= 4
struct scale_by_instruction {
    RILL_FN static simd<float> run(simd<float> p, const rounded_number<float>& n) {
        return simd<float>::native(_mm512_maskz_scalef_ps(__mmask16(-1), p.v, n.value().v));
    }
    RILL_FN static simd<double> run(simd<double> p, const rounded_number<double>& n) {
        return simd<double>::native(_mm512_maskz_scalef_pd(__mmask8(-1), p.v, n.value().v));
    }
};
template <class T> using scaling = std::conditional_t<sizeof(simd<T>) == 64, scale_by_instruction, scale_in_two_steps>;
#else
template <class T> using scaling = scale_in_two_steps;
#endif

// ---- exponentials ----------------------------------------------------------------------------------------------------------

/// Range reduction: x = n ln 2 + r with |r| <= ln 2 / 2.
template <class T> struct exp_reduction {
    rounded_number<T> n;
    simd<T> r;
    RILL_FN explicit exp_reduction(simd<T> x) : n(x, T(1.44269504088896340736)) {
        const simd<T> i = n.value();
        r = fnma(i, simd<T>(float_parts<T>::ln2_low), fnma(i, simd<T>(float_parts<T>::ln2_high), x));
    }
};

template <class T> RILL_FN simd<T> exp(simd<T> x) {
    using parts = float_parts<T>;
    // Beyond the bounds all results are infinite or zero; NaN passes through.
    const exp_reduction<T> e(larger(simd<T>(parts::exp_least), smaller(simd<T>(parts::exp_most), x)));
    simd<T> q;
    if constexpr (sizeof(T) == 4)
        q = polynomial(e.r, 0.4999999343f, 0.166665204f, 0.04166839081f, 0.008368745157f, 0.001381453895f);
    else
        q = polynomial(e.r, 0.500000000000001067, 0.166666666666664115, 0.0416666666665297273, 0.00833333333349498126,
                       0.0013888888943760225, 0.000198412695057676191, 0.0000248014929493591088, 2.75575868079718333e-6,
                       2.76303063475880097e-7, 2.50000178461193576e-8);
    const simd<T> one(T(1)), p = fma(fma(q, e.r, one), e.r, one);
    return scaling<T>::run(p, e.n);
}

/// Computes (exp(x) - 1) / 2, for arguments whose exponential and its inverse are far from overflow.
template <class T> RILL_FN simd<T> half_expm1(simd<T> x) {
    const exp_reduction<T> e(x);
    simd<T> q;
    if constexpr (sizeof(T) == 4)
        q = polynomial(e.r, 0.5000000044f, 0.1666666637f, 0.04166636043f, 0.008333389457f, 0.001394066847f,
                       0.0001984588225f);
    else
        q = polynomial(e.r, 0.500000000000000001, 0.166666666666666765, 0.0416666666666665081, 0.00833333333332165421,
                       0.00138888888889626059, 0.000198412698860735043, 0.00002480158717222939, 2.75572442540270389e-6,
                       2.75574027756408536e-7, 2.51090245464078075e-8, 2.08753290368516693e-9);
    const simd<T> s = e.n.power_of_two(-1);
    return fma(s, fma(e.r * e.r, q, e.r), s - simd<T>(T(0.5)));
}

template <class T> RILL_FN simd<T> expm1(simd<T> x) {
    using parts = float_parts<T>;
    const simd<T> h = half_expm1(larger(simd<T>(parts::expm1_least), smaller(simd<T>(parts::exp_most), x)));
    const simd<T> y = h + h;
    return select(abs(x) < simd<T>(std::numeric_limits<T>::epsilon() / 4), x, y); // y lost bits of subnormals, and -0
}

/// Computes tanh |x| as d = h / (h + 1) with h = expm1(2|x|) / 2, never above 1.
/// Small results use h - h d, which avoids the rounding error of the division.
template <class T> RILL_FN simd<T> tanh_by_exponential(simd<T> x) {
    const simd<T> a = smaller(simd<T>(float_parts<T>::tanh_one), abs(x)); // NaN passes through
    const simd<T> h = half_expm1(a + a), d = h / (h + simd<T>(T(1)));
    return select(h < simd<T>(T(0.5)), fnma(h, d, h), d) | (x & simd<T>(T(-0.0)));
}

template <class T> RILL_FN simd<T> tanh(simd<T> x) {
    if constexpr (has_tanh_table<T>)
        return tanh_by_table<tanh_table>(x);
    else
        return tanh_by_exponential(x);
}

// ---- logarithms ------------------------------------------------------------------------------------------------------------

/// Range reduction: x = 2^exponent (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for positive normal x.
template <class T> struct log_reduction {
    simd<T> exponent, f;
    integer_of<T> biased; // exponent + bias
    RILL_FN explicit log_reduction(simd<T> x) {
        using parts = float_parts<T>;
        using I = typename parts::integer;
        using U = simd<std::make_unsigned_t<I>>;
        constexpr I one = I(parts::bias) << parts::fraction_bits;
        constexpr T implicit_bit = 1 / std::numeric_limits<T>::epsilon(); // 2^23 (float): its low bits count units
        const integer_of<T> u = bits_of(x) + integer_of<T>(one - parts::sqrt_half);
        biased = std::bit_cast<integer_of<T>>(shift_right(std::bit_cast<U>(u), parts::fraction_bits));
        f = from_bits<T>((u & integer_of<T>((I(1) << parts::fraction_bits) - 1)) + integer_of<T>(parts::sqrt_half)) -
            simd<T>(T(1));
        exponent = from_bits<T>(biased | bits_of(simd<T>(implicit_bit))) - simd<T>(implicit_bit + T(parts::bias));
    }
};

/// Computes exponent · ln 2 + log(1 + f).
template <class T> RILL_FN simd<T> log_of_parts(simd<T> exponent, simd<T> f) {
    const simd<T> high(float_parts<T>::ln2_high), low(float_parts<T>::ln2_low), half_square = simd<T>(T(0.5)) * f * f;
    if constexpr (sizeof(T) == 4) {
        const simd<T> p = polynomial(f, 0.333333126f, -0.250000096f, 0.2000211866f, -0.1666799584f, 0.1421955242f,
                                     -0.1240558915f, 0.1188816206f, -0.1167565031f, 0.06746639084f);
        const simd<T> tail = fma(exponent, low, f * f * f * p);
        return fma(exponent, high, f + (tail - half_square));
    } else { // by atanh(s): one division is cheaper than twenty terms
        const simd<T> s = f / (f + simd<T>(T(2))), z = s * s;
        const simd<T> p =
            z * polynomial(z, 0.666666666666666975, 0.399999999998978878, 0.285714286266514069, 0.222222110317493245,
                           0.18182896207631686, 0.153314977645068184, 0.146190969920122785);
        return fma(exponent, high, f - (half_square - fma(s, half_square + p, exponent * low)));
    }
}

struct log_in_steps {
    template <class T> RILL_FN static log_reduction<T> reduce(simd<T> x) { // accepts subnormal x
        using limits = std::numeric_limits<T>;
        const auto subnormal = x < simd<T>(limits::min());
        log_reduction<T> parts(select(subnormal, x * simd<T>(1 / limits::epsilon()), x));
        parts.exponent = parts.exponent - select(subnormal, simd<T>(T(limits::digits - 1)), simd<T>(T(0)));
        return parts;
    }
    /// Returns the logarithm of x: y for positive finite x, and the special values for all other x.
    template <class T> RILL_FN static simd<T> at_ends(simd<T> x, simd<T> y) {
        const simd<T> infinity(std::numeric_limits<T>::infinity()), zero(T(0));
        const simd<T> upper = select(x < infinity, y, x); // for infinity and NaN
        const simd<T> lower = select(x == zero, -infinity, simd<T>(std::numeric_limits<T>::quiet_NaN()));
        return select(x <= zero, lower, upper);
    }
};
#if RILL_ISA_LEVEL >= 4
struct log_by_instruction {
    // responses for the input classes NaN, NaN, zero, one, -infinity, infinity, negative, positive
    static constexpr int ends = 0x2 | 0x2 << 4 | 0x4 << 8 | 0x0 << 12 | 0x3 << 16 | 0x5 << 20 | 0x3 << 24;

    template <class T> struct parts {
        simd<T> exponent, f;
    };
    template <class T> RILL_FN static parts<T> reduce(simd<T> x) {
        simd<T> e, m; // x = 2^e m with 1 <= m < 2
        if constexpr (sizeof(T) == 4) {
            e = typename simd<T>::native(_mm512_maskz_getexp_ps(__mmask16(-1), x.v));
            m = typename simd<T>::native(
                _mm512_maskz_getmant_ps(__mmask16(-1), x.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src));
        } else {
            e = typename simd<T>::native(_mm512_maskz_getexp_pd(__mmask8(-1), x.v));
            m = typename simd<T>::native(
                _mm512_maskz_getmant_pd(__mmask8(-1), x.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src));
        }
        const simd<T> one(T(1));
        const auto high = m > simd<T>(T(1.41421356237309504880));
        return {select(high, e + one, e), select(high, m * simd<T>(T(0.5)), m) - one};
    }
    template <class T> RILL_FN static simd<T> at_ends(simd<T> x, simd<T> y) {
        if constexpr (sizeof(T) == 4)
            return typename simd<T>::native(_mm512_fixupimm_ps(y.v, x.v, _mm512_set1_epi32(ends), 0));
        else
            return typename simd<T>::native(_mm512_fixupimm_pd(y.v, x.v, _mm512_set1_epi64(ends), 0));
    }
};
template <class T> using logarithm = std::conditional_t<sizeof(simd<T>) == 64, log_by_instruction, log_in_steps>;
#else
template <class T> using logarithm = log_in_steps;
#endif

template <class T> RILL_FN simd<T> log(simd<T> x) {
    const auto parts = logarithm<T>::reduce(x);
    return logarithm<T>::at_ends(x, log_of_parts(parts.exponent, parts.f));
}

/// Computes log(1 + x); adds the rounding error of 1 + x to f.
template <class T> RILL_FN simd<T> log1p(simd<T> x) {
    using I = typename float_parts<T>::integer;
    const simd<T> one(T(1)), u = one + x, x_in_u = u - one, one_in_u = u - x_in_u;
    const simd<T> lost = (one - one_in_u) + (x - x_in_u);
    const log_reduction<T> parts(u);
    const simd<T> shrink = // 2^(1 - exponent), zero for the largest exponent
        from_bits<T>(
            shift_left(integer_of<T>(I(2 * float_parts<T>::bias + 1)) - parts.biased, float_parts<T>::fraction_bits));
    const simd<T> y =
        logarithm<T>::at_ends(u, log_of_parts(parts.exponent, fma(lost * simd<T>(T(0.5)), shrink, parts.f)));
    return select(abs(x) < simd<T>(std::numeric_limits<T>::epsilon() / 4), x, y); // keeps -0
}

// ---- sines -----------------------------------------------------------------------------------------------------------------

/// Range reduction: |x| = n π/2 + r with |r| <= π/4. π/2 is split into parts; their products with n are exact up to x = `most`.
template <class T> struct angle {
    static constexpr T most = sizeof(T) == 4 ? T(8192) : T(1 << 20);
    simd<T> x, r;
    rounded_number<T> n;

    RILL_FN explicit angle(simd<T> number) : x(abs(number)), n(x, T(0.636619772367581343076)) {
        const simd<T> m = n.value();
        if constexpr (sizeof(T) == 4)
            r = reduced(m, 0x1.92p+0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f);
        else
            r = reduced(m, 0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104);
    }
    RILL_FN bool too_large() const { return any_of(x > simd<T>(most)); }
    /// Returns true in lanes where n is odd.
    RILL_FN simd_mask<T> odd() const {
        using I = integer_of<T>;
        return std::bit_cast<simd_mask<T>>((n.bits() & I(1)) != I(0));
    }
    /// Returns the sign bit of the quadrant: bit 1 of n + ahead.
    RILL_FN simd<T> sign(int ahead) const {
        using I = typename float_parts<T>::integer;
        const integer_of<T> quadrant = n.bits() + integer_of<T>(static_cast<I>(ahead));
        return from_bits<T>(shift_left(quadrant & integer_of<T>(I(2)), int(8 * sizeof(T)) - 2));
    }
    RILL_FN simd<T> sine() const {
        const simd<T> z = r * r;
        simd<T> p;
        if constexpr (sizeof(T) == 4)
            p = polynomial(z, -0.1666666664f, 0.008333329281f, -0.0001983930442f, 2.718046476e-6f);
        else
            p = polynomial(z, -0.166666666666666303, 0.00833333333332200551, -0.000198412698294954994,
                           2.75573135876215004e-6, -2.50507423082893381e-8, 1.58959047646725132e-10);
        return fma(z * r, p, r);
    }
    RILL_FN simd<T> cosine() const {
        const simd<T> z = r * r;
        simd<T> p;
        if constexpr (sizeof(T) == 4)
            p = polynomial(z, 0.04166664555f, -0.001388730987f, 2.4432413e-5f);
        else
            p = polynomial(z, 0.041666666666666592, -0.00138888888888728951, 0.0000248015872887481877,
                           -2.7557314148622772e-7, 2.08756965724071606e-9, -1.13583104782621701e-11);
        return fma(z * z, p, fma(z, simd<T>(T(-0.5)), simd<T>(T(1))));
    }

private:
    /// Returns x - m · (first + second + third + last). The first difference is exact, and for floats also the second.
    /// The rounding error of the next difference is carried into the remaining parts.
    RILL_FN simd<T> reduced(simd<T> m, T first, T second, T third, T last) const {
        const simd<T> p2(second), p3(third), p4(last), rest = fnma(m, simd<T>(first), x);
        if constexpr (sizeof(T) == 4) {
            const simd<T> next = fnma(m, p2, rest), high = fnma(m, p3, next);
            return high + fnma(m, p4, fnma(m, p3, next - high));
        } else {
            const simd<T> high = fnma(m, p2, rest);
            return high + fnma(m, p4, fnma(m, p3, fnma(m, p2, rest - high)));
        }
    }
};

/// Calls the library function lane by lane, beyond the range of the reduction. Out of line, because it is rare.
template <class F, class T> RILL_NO_INLINE simd<T> exact_by_lane(F f, simd<T> x) { return simd<T>::by_lane(f, x); }

template <class T> RILL_FN simd<T> sin(simd<T> x) {
    const angle<T> a(x);
    if (a.too_large()) return exact_by_lane([](lane<T> v) { return lane<T>(std::sin(v.v)); }, x);
    return select(a.odd(), a.cosine(), a.sine()) ^ a.sign(0) ^ (x & simd<T>(T(-0.0)));
}
template <class T> RILL_FN simd<T> cos(simd<T> x) {
    const angle<T> a(x);
    if (a.too_large()) return exact_by_lane([](lane<T> v) { return lane<T>(std::cos(v.v)); }, x);
    return select(a.odd(), a.sine(), a.cosine()) ^ a.sign(1);
}
template <class T> RILL_FN simd<T> tan(simd<T> x) {
    const angle<T> a(x);
    if (a.too_large()) return exact_by_lane([](lane<T> v) { return lane<T>(std::tan(v.v)); }, x);
    const simd<T> s = a.sine(), c = a.cosine();
    return (select(a.odd(), -c, s) / select(a.odd(), s, c)) ^ (x & simd<T>(T(-0.0)));
}

// ---- powers ----------------------------------------------------------------------------------------------------------------

template <class T> RILL_FN simd<T> rsqrt(simd<T> x) { return simd<T>(T(1)) / sqrt(x); }

/// Computes exp(y log|x|) in double, then the special cases of the C standard. Its error of 1e-14 vanishes when rounded to float.
template <std::same_as<double> T> RILL_FN simd<T> rough_pow(simd<T> x, simd<T> y) {
    using V = simd<T>;
    const V zero(0.0), one(1.0), a = abs(x), infinity(std::numeric_limits<double>::infinity());
    V r = exp(y * log(a));
    r = select(a == one || y == zero, one, r); // also for infinite y, and for infinite and zero x
    const V half_y = V(0.5) * y;
    const auto integral = floor(y) == y, odd = integral && floor(half_y) != half_y;
    r = select(odd, r | (x & V(-0.0)), r);
    r = select(x < zero && !integral && a < infinity, V(std::numeric_limits<double>::quiet_NaN()), r);
    return select((x == x || y == zero) && (y == y || x == one), r, x + y);
}

// A template like the others: a non-template function would be compiled in every file.
template <std::same_as<float> T> RILL_FN simd<T> pow(simd<T> x, simd<T> y) {
    constexpr int n = simd<float>::lanes, half = simd<double>::lanes;
    float in[2][n], out[n];
    x.store(in[0]);
    y.store(in[1]);
    double wide[2][n], result[n];
    for (int i = 0; i < n; ++i) wide[0][i] = in[0][i], wide[1][i] = in[1][i];
    for (int i = 0; i < n; i += half)
        rough_pow(simd<double>::load(wide[0] + i), simd<double>::load(wide[1] + i)).store(result + i);
    for (int i = 0; i < n; ++i) out[i] = static_cast<float>(result[i]);
    return simd<float>::load(out);
}
template <class T> RILL_FN simd<T> pow(simd<T> x, simd<T> y) {
    return simd<T>::by_lane([](lane<T> a, lane<T> b) { return lane<T>(std::pow(a.v, b.v)); }, x, y);
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
