// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include <rill/device/cpu/simd/register_math.hpp>
#include <rill/device/cpu/simd/register_power.hpp>
#include <rill/device/cpu/simd/simd.hpp>
#include <rill/device/cpu/simd/tanh_table.hpp>

#if RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 4
#include <immintrin.h>
#endif

// Elementary functions of simd<T>: register_math.hpp computes them. Exceptions are pow of doubles without fma, and sines of huge numbers.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

#if RILL_SIMD_REGISTERS

// ---- the operations of register_math.hpp ---------------------------------------------------------------------------------

template <class T> using bits_in_lane = register_math::bits_type<simd<T>>;
template <class T> using integer_of = simd<std::make_signed_t<bits_in_lane<T>>>;

template <class T> RILL_FN integer_of<T> bits_of(simd<T> x) { return std::bit_cast<integer_of<T>>(x); }
template <class T> RILL_FN simd<T> from_bits(integer_of<T> x) { return std::bit_cast<simd<T>>(x); }

/// Adds integers to the bits of floats.
template <class T> RILL_FN simd<T> add_bits(simd<T> x, bits_in_lane<T> n) {
    return from_bits<T>(bits_of(x) + integer_of<T>(static_cast<std::make_signed_t<bits_in_lane<T>>>(n)));
}
template <class T> RILL_FN simd<T> add_bits(simd<T> x, simd<T> y) { return from_bits<T>(bits_of(x) + bits_of(y)); }
template <class T> RILL_FN simd<T> shift_bits_left(simd<T> x, int n) { return from_bits<T>(shift_left(bits_of(x), n)); }
template <class T> RILL_FN simd<T> shift_bits_right(simd<T> x, int n) {
    return std::bit_cast<simd<T>>(shift_right(std::bit_cast<simd<bits_in_lane<T>>>(x), n));
}

struct maths_in_steps {
    template <class V> RILL_FN static V scaled(V p, const register_math::rounded_number<V>& n) {
        return register_math::scaled_in_two_steps(p, n);
    }
    template <class V> RILL_FN static register_math::log_parts<V> log_parts_of(V x) {
        return register_math::log_parts_in_steps(x);
    }
    template <class V> RILL_FN static V log_at_ends(V x, V y) { return register_math::log_at_ends_in_steps(x, y); }
};

#if RILL_ISA_LEVEL >= 4

struct maths_by_instruction {
    using single = simd<float>;
    using twice = simd<double>;
    // responses for the input classes NaN, NaN, zero, one, -infinity, infinity, negative, positive
    static constexpr int ends = 0x2 | 0x2 << 4 | 0x4 << 8 | 0x0 << 12 | 0x3 << 16 | 0x5 << 20 | 0x3 << 24;

    RILL_FN static single scaled(single p, const register_math::rounded_number<single>& n) {
        return single::native(_mm512_maskz_scalef_ps(__mmask16(-1), p.v, n.value().v));
    }
    RILL_FN static twice scaled(twice p, const register_math::rounded_number<twice>& n) {
        return twice::native(_mm512_maskz_scalef_pd(__mmask8(-1), p.v, n.value().v));
    }
    template <class T> RILL_FN static register_math::log_parts<simd<T>> log_parts_of(simd<T> x) {
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
        const auto high = m >= simd<T>(T(1.41421356237309504880)); // as log_reduction divides the interval
        return {select(high, e + one, e), select(high, m * simd<T>(T(0.5)), m) - one};
    }
    template <class T> RILL_FN static simd<T> log_at_ends(simd<T> x, simd<T> y) {
        if constexpr (sizeof(T) == 4)
            return typename simd<T>::native(_mm512_fixupimm_ps(y.v, x.v, _mm512_set1_epi32(ends), 0));
        else
            return typename simd<T>::native(_mm512_fixupimm_pd(y.v, x.v, _mm512_set1_epi64(ends), 0));
    }
};
template <class T> using maths_of = std::conditional_t<sizeof(simd<T>) == 64, maths_by_instruction, maths_in_steps>;
#else
template <class T> using maths_of = maths_in_steps;
#endif

template <class T> RILL_FN simd<T> scaled(simd<T> p, const register_math::rounded_number<simd<T>>& n) {
    return maths_of<T>::scaled(p, n);
}
template <class T> RILL_FN register_math::log_parts<simd<T>> log_parts_of(simd<T> x) {
    return maths_of<T>::log_parts_of(x);
}
template <class T> RILL_FN simd<T> log_at_ends(simd<T> x, simd<T> y) { return maths_of<T>::log_at_ends(x, y); }

/// Replaces the lanes of y whose size is beyond the range of the reduction. Out of line, because it is rare.
template <class T> RILL_NO_INLINE simd<T> exact_by_lane(simd<T> y, simd<T> x, exact_number number) {
    const auto& exact = exact_functions<T>[static_cast<std::size_t>(number)];
    T in[simd<T>::lanes], out[simd<T>::lanes];
    x.store(in);
    y.store(out);
    for (int k = 0; k < simd<T>::lanes; ++k)
        if (std::abs(in[k]) > exact.most) out[k] = exact.run(in[k]);
    return simd<T>::load(out);
}
template <class T> RILL_FN simd<T> exact_beyond(simd<T> y, simd<T> size, simd<T> x, exact_number number) {
    return any_of(size > simd<T>(most_reduced_angle<T>)) ? exact_by_lane(y, x, number) : y;
}

// ---- the functions -------------------------------------------------------------------------------------------------------

template <class T> RILL_FN simd<T> exp(simd<T> x) { return register_math::exp(x); }
template <class T> RILL_FN simd<T> expm1(simd<T> x) { return register_math::expm1(x); }
template <class T> RILL_FN simd<T> log(simd<T> x) { return register_math::log(x); }
template <class T> RILL_FN simd<T> log1p(simd<T> x) { return register_math::log1p(x); }
template <class T> RILL_FN simd<T> sin(simd<T> x) { return register_math::sin(x); }
template <class T> RILL_FN simd<T> cos(simd<T> x) { return register_math::cos(x); }
template <class T> RILL_FN simd<T> tan(simd<T> x) { return register_math::tan(x); }
template <class T> RILL_FN simd<T> rsqrt(simd<T> x) { return register_math::rsqrt(x); }
template <class T> RILL_FN simd<T> tanh(simd<T> x) {
    if constexpr (has_tanh_table<T>)
        return register_math::tanh_by_table<tanh_table>(x);
    else
        return register_math::tanh_by_exponential(x);
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
        register_math::rough_power(simd<double>::load(wide[0] + i), simd<double>::load(wide[1] + i)).store(result + i);
    for (int i = 0; i < n; ++i) out[i] = static_cast<float>(result[i]);
    return register_math::power_at_ends(x, y, simd<float>::load(out));
}
template <class T> RILL_FN simd<T> pow(simd<T> x, simd<T> y) {
    if constexpr (simd<T>::rounds_once && std::is_same_v<T, double>)
        return register_math::pow(x, y);
    else
        return simd<T>::by_lane([](lane<T> a, lane<T> b) { return lane<T>(std::pow(a.v, b.v)); }, x, y);
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
