// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include <rill/device/lane.hpp>

#if RILL_SIMD_REGISTERS
#include <xsimd/xsimd.hpp>
#endif

// simd<T>: one SIMD register with the operations of lane<T>, over xsimd::batch; packs consist of these.
// It uses only operations that every xsimd from 8.1 on computes alike; functions with number rules of rill are written out.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

#if RILL_SIMD_REGISTERS
template <class T> constexpr int register_lanes() {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        if constexpr (xsimd::types::has_simd_register<T, xsimd::default_arch>::value)
            return static_cast<int>(xsimd::batch<T>::size);
    }
    return 0;
}
#else
template <class T> constexpr int register_lanes() { return 0; }
#endif

/// The number of values of T in one register; 0 if T is processed lane by lane.
template <class T> inline constexpr int native_lanes = register_lanes<T>();

/// The result of comparing two simd<T>.
template <class T> struct simd_mask;
/// One SIMD register of T.
template <class T> struct simd;

#if RILL_SIMD_REGISTERS

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // g++: its own intrinsics have an "undefined" operand
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

template <class T> struct simd_mask {
    using native = xsimd::batch_bool<T>;
    static constexpr int lanes = native_lanes<T>;

    native v;

    simd_mask() = default;
    RILL_FN simd_mask(bool x) : v(x) {}
    RILL_FN simd_mask(native x) : v(x) {}

    RILL_FN friend simd_mask operator&&(simd_mask a, simd_mask b) { return a.v & b.v; }
    RILL_FN friend simd_mask operator||(simd_mask a, simd_mask b) { return a.v | b.v; }
    RILL_FN friend simd_mask operator!(simd_mask a) { return ~a.v; }
    RILL_FN friend simd_mask operator!=(simd_mask a, simd_mask b) { return (a && !b) || (b && !a); } // xsimd 8: ^ is |
    RILL_FN friend simd_mask operator==(simd_mask a, simd_mask b) { return !(a != b); }
    RILL_FN friend bool any_of(simd_mask a) { return xsimd::any(a.v); }
};

// Workarounds for xsimd. Its versions disagree on the result of max and min for unordered floats.
// Version 8 lacks fused multiply-add on AVX-512.
// On ARM, division and square root of floats are estimates, and floor and ceil lose the sign of zero.

/// Portable maximum and minimum: a > b ? a : b and a < b ? a : b. For unordered operands the second wins.
struct common_choices {
    template <class V> RILL_FN static V larger(V a, V b) { return select(a > b, a, b); }
    template <class V> RILL_FN static V smaller(V a, V b) { return select(a < b, a, b); }
};
/// Portable fused multiply-add: a * b + c and c - a * b.
struct common_products {
    template <class V> RILL_FN static V plus(V a, V b, V c) { return xsimd::fma(a.v, b.v, c.v); }
    template <class V> RILL_FN static V minus(V a, V b, V c) { return xsimd::fnma(a.v, b.v, c.v); }
};

template <class V> RILL_FN auto in_register(V x) {
    typename V::native::register_type r = x.v;
    return r;
}

#if defined(__SSE2__) // the same rule as common_choices, in one instruction
RILL_FN __m128 x86_larger(__m128 a, __m128 b) { return _mm_max_ps(a, b); }
RILL_FN __m128 x86_smaller(__m128 a, __m128 b) { return _mm_min_ps(a, b); }
RILL_FN __m128d x86_larger(__m128d a, __m128d b) { return _mm_max_pd(a, b); }
RILL_FN __m128d x86_smaller(__m128d a, __m128d b) { return _mm_min_pd(a, b); }
#if defined(__AVX__)
RILL_FN __m256 x86_larger(__m256 a, __m256 b) { return _mm256_max_ps(a, b); }
RILL_FN __m256 x86_smaller(__m256 a, __m256 b) { return _mm256_min_ps(a, b); }
RILL_FN __m256d x86_larger(__m256d a, __m256d b) { return _mm256_max_pd(a, b); }
RILL_FN __m256d x86_smaller(__m256d a, __m256d b) { return _mm256_min_pd(a, b); }
#endif
#if defined(__AVX512F__)
RILL_FN __m512 x86_larger(__m512 a, __m512 b) { return _mm512_max_ps(a, b); }
RILL_FN __m512 x86_smaller(__m512 a, __m512 b) { return _mm512_min_ps(a, b); }
RILL_FN __m512d x86_larger(__m512d a, __m512d b) { return _mm512_max_pd(a, b); }
RILL_FN __m512d x86_smaller(__m512d a, __m512d b) { return _mm512_min_pd(a, b); }
RILL_FN __m512 x86_product_plus(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
RILL_FN __m512 x86_product_minus(__m512 a, __m512 b, __m512 c) { return _mm512_fnmadd_ps(a, b, c); }
RILL_FN __m512d x86_product_plus(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
RILL_FN __m512d x86_product_minus(__m512d a, __m512d b, __m512d c) { return _mm512_fnmadd_pd(a, b, c); }
#endif

struct x86_choices {
    template <class V> RILL_FN static V larger(V a, V b) {
        return typename V::native(x86_larger(in_register(a), in_register(b)));
    }
    template <class V> RILL_FN static V smaller(V a, V b) {
        return typename V::native(x86_smaller(in_register(a), in_register(b)));
    }
};
using choices = x86_choices;
#else
using choices = common_choices;
#endif

#if defined(__AVX512F__)
struct x86_products {
    template <class V> RILL_FN static V plus(V a, V b, V c) {
        return typename V::native(x86_product_plus(in_register(a), in_register(b), in_register(c)));
    }
    template <class V> RILL_FN static V minus(V a, V b, V c) {
        return typename V::native(x86_product_minus(in_register(a), in_register(b), in_register(c)));
    }
};
template <class V> using products = std::conditional_t<sizeof(V) == 64, x86_products, common_products>;
#else
template <class V> using products = common_products;
#endif

struct common_functions {
    template <class V> RILL_FN static V quotient(V a, V b) { return a.v / b.v; }
    template <class V> RILL_FN static V root(V a) { return xsimd::sqrt(a.v); }
    template <class V> RILL_FN static V down(V a) { return xsimd::floor(a.v); }
    template <class V> RILL_FN static V up(V a) { return xsimd::ceil(a.v); }
};
#if defined(__aarch64__) && !defined(__ARM_FEATURE_SVE_BITS)
RILL_FN float32x4_t arm_root(float32x4_t a) { return vsqrtq_f32(a); }
RILL_FN float64x2_t arm_root(float64x2_t a) { return vsqrtq_f64(a); }
RILL_FN float32x4_t arm_down(float32x4_t a) { return vrndmq_f32(a); }
RILL_FN float64x2_t arm_down(float64x2_t a) { return vrndmq_f64(a); }
RILL_FN float32x4_t arm_up(float32x4_t a) { return vrndpq_f32(a); }
RILL_FN float64x2_t arm_up(float64x2_t a) { return vrndpq_f64(a); }

struct arm_functions {
    template <class V> RILL_FN static V quotient(V a, V b) {
        return typename V::native(in_register(a) / in_register(b));
    }
    template <class V> RILL_FN static V root(V a) { return typename V::native(arm_root(in_register(a))); }
    template <class V> RILL_FN static V down(V a) { return typename V::native(arm_down(in_register(a))); }
    template <class V> RILL_FN static V up(V a) { return typename V::native(arm_up(in_register(a))); }
};
using functions = arm_functions;
#else
using functions = common_functions;
#endif

template <class T> struct simd {
    using value_type = T;
    using native = xsimd::batch<T>;
    using mask = simd_mask<T>;
    static constexpr int lanes = native_lanes<T>;
    static constexpr bool floating = std::is_floating_point_v<T>;
    static constexpr bool rounds_once = fma_rounds_once; // fma rounds once
    static constexpr bool rounding_instruction =
        RILL_ISA_LEVEL >= 2 || !std::is_base_of_v<xsimd::sse2, xsimd::default_arch>;

    native v;

    simd() = default;
    RILL_FN simd(T x) : v(x) {}
    RILL_FN simd(native x) : v(x) {}

    RILL_FN static simd load(const T* from) { return native::load_unaligned(from); }
    RILL_FN void store(T* to) const { v.store_unaligned(to); }

    RILL_FN friend simd operator+(simd a, simd b) { return a.v + b.v; }
    RILL_FN friend simd operator-(simd a, simd b) { return a.v - b.v; }
    RILL_FN friend simd operator*(simd a, simd b) {
        if constexpr (floating) {
            return a.v * b.v;
        } else if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
            // xsimd may compute lane by lane. Products of 16 bits fit a signed int; products of 32 bits wrap only if unsigned.
            using U = simd<std::conditional_t<sizeof(T) == 2, std::int16_t, std::uint32_t>>;
            return std::bit_cast<simd>(typename U::native(std::bit_cast<U>(a).v * std::bit_cast<U>(b).v));
        } else { // no instruction, or only on recent processors
            return by_lane([](lane<T> x, lane<T> y) { return x * y; }, a, b);
        }
    }
    RILL_FN friend simd operator/(simd a, simd b) {
        if constexpr (floating)
            return functions::quotient(a, b);
        else
            return by_lane([](lane<T> x, lane<T> y) { return x / y; }, a, b);
    }
    RILL_FN friend simd operator%(simd a, simd b)
        requires(!floating)
    {
        return by_lane([](lane<T> x, lane<T> y) { return x % y; }, a, b);
    }
    RILL_FN friend simd operator-(simd a) {
        if constexpr (floating)
            return a.v ^ native(T(-0.0));
        else
            return native(T(0)) - a.v;
    }

    RILL_FN friend mask operator==(simd a, simd b) { return a.v == b.v; }
    RILL_FN friend mask operator!=(simd a, simd b) { return !(a == b); } // in xsimd 8, != is false for NaN
    RILL_FN friend mask operator<(simd a, simd b) { return a.v < b.v; }
    RILL_FN friend mask operator<=(simd a, simd b) { return a.v <= b.v; }
    RILL_FN friend mask operator>(simd a, simd b) { return b.v < a.v; }
    RILL_FN friend mask operator>=(simd a, simd b) { return b.v <= a.v; }

    RILL_FN friend simd operator&(simd a, simd b) { return a.v & b.v; }
    RILL_FN friend simd operator|(simd a, simd b) { return a.v | b.v; }
    RILL_FN friend simd operator^(simd a, simd b) { return a.v ^ b.v; }

    RILL_FN friend simd select(mask m, simd a, simd b) { return xsimd::select(m.v, a.v, b.v); }
    /// Returns a > b ? a : b.
    RILL_FN friend simd larger(simd a, simd b) {
        if constexpr (floating)
            return choices::larger(a, b);
        else
            return select(a > b, a, b);
    }
    /// Returns a < b ? a : b.
    RILL_FN friend simd smaller(simd a, simd b) {
        if constexpr (floating)
            return choices::smaller(a, b);
        else
            return select(a < b, a, b);
    }
    RILL_FN friend simd max(simd a, simd b) {
        if constexpr (floating)
            return select(b == b, larger(b, a), b);
        else
            return larger(b, a);
    }
    RILL_FN friend simd min(simd a, simd b) {
        if constexpr (floating)
            return select(b == b, smaller(b, a), b);
        else
            return smaller(b, a);
    }
    RILL_FN friend simd fma(simd a, simd b, simd c) {
        if constexpr (floating)
            return products<simd>::plus(a, b, c);
        else
            return a * b + c;
    }
    /// Returns c - a * b.
    RILL_FN friend simd fnma(simd a, simd b, simd c)
        requires floating
    {
        return products<simd>::minus(a, b, c);
    }
    RILL_FN friend simd abs(simd a) {
        if constexpr (floating)
            return xsimd::abs(a.v);
        else if constexpr (std::is_signed_v<T>)
            return select(a < simd(T(0)), -a, a);
        else
            return a;
    }
    RILL_FN friend simd sign(simd a) {
        const simd positive = select(a > simd(T(0)), simd(T(1)), a);
        if constexpr (std::is_signed_v<T>)
            return select(a < simd(T(0)), simd(T(-1)), positive);
        else
            return positive;
    }
    RILL_FN friend simd floor(simd a) {
        if constexpr (!floating)
            return a;
        else if constexpr (rounding_instruction)
            return functions::down(a);
        else
            return with_sign_of(a, select(rounded(a) > a, rounded(a) - simd(T(1)), rounded(a)));
    }
    RILL_FN friend simd ceil(simd a) {
        if constexpr (!floating)
            return a;
        else if constexpr (rounding_instruction)
            return functions::up(a);
        else
            return with_sign_of(a, select(rounded(a) < a, rounded(a) + simd(T(1)), rounded(a)));
    }
    RILL_FN friend simd sqrt(simd a)
        requires floating
    {
        return functions::root(a);
    }

    /// Returns a with the sign of b.
    RILL_FN static simd with_sign_of(simd b, simd a) { return abs(a) | (b & simd(T(-0.0))); }
    /// Returns the nearest integer, ties to even. Adding 2^23 (double: 2^52) leaves no bits for a fraction.
    RILL_FN static simd rounded(simd a) {
        const simd shift(T(1) / std::numeric_limits<T>::epsilon());
        const simd magnitude = abs(a);
        return select(magnitude < shift, with_sign_of(a, (magnitude + shift) - shift), a);
    }
    /// Applies f lane by lane, for operations without an instruction.
    template <class F, class... V> RILL_FN static simd by_lane(F f, const V&... a) {
        T out[lanes];
        const simd args[] = {a...};
        T in[sizeof...(a)][lanes];
        for (std::size_t k = 0; k < sizeof...(a); ++k) args[k].store(in[k]);
        for (int i = 0; i < lanes; ++i) {
            if constexpr (sizeof...(a) == 1)
                out[i] = f(lane<T>(in[0][i])).v;
            else
                out[i] = f(lane<T>(in[0][i]), lane<T>(in[1][i])).v;
        }
        return load(out);
    }
};

template <class T> RILL_FN simd<T> shift_left(simd<T> x, int bits) { return x.v << bits; }
template <class T> RILL_FN simd<T> shift_right(simd<T> x, int bits) { return x.v >> bits; }

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
