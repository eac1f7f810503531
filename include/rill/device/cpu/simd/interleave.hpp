// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <rill/device/cpu/simd/simd_memory.hpp>

// Transposition inside registers: the core of transposes, and of packing matrices for matrix products.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

#if RILL_SIMD_REGISTERS

// Zips a0 b0 a1 b1 … of the lower and of the upper halves of two registers. xsimd's zip differs between its versions.

struct zip_by_lane {
    template <class T> RILL_FN static simd<T> run(simd<T> a, simd<T> b, int first) {
        constexpr int n = simd<T>::lanes;
        T in[2][n], out[n];
        a.store(in[0]);
        b.store(in[1]);
        for (int i = 0; i < n; ++i) out[i] = in[i % 2][first + i / 2];
        return simd<T>::load(out);
    }
    template <class T> RILL_FN static simd<T> low(simd<T> a, simd<T> b) { return run(a, b, 0); }
    template <class T> RILL_FN static simd<T> high(simd<T> a, simd<T> b) { return run(a, b, simd<T>::lanes / 2); }
};

#if RILL_ISA_LEVEL >= 4
struct zip_in_512_bits {
    template <class T> RILL_FN static simd<T> run(simd<T> a, simd<T> b, int first) {
        const auto x = std::bit_cast<__m512i>(a), y = std::bit_cast<__m512i>(b);
        if constexpr (sizeof(T) == 4) {
            const __m512i at = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            return std::bit_cast<simd<T>>(
                _mm512_permutex2var_epi32(x, _mm512_add_epi32(at, _mm512_set1_epi32(first)), y));
        } else {
            const __m512i at = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
            return std::bit_cast<simd<T>>(
                _mm512_permutex2var_epi64(x, _mm512_add_epi64(at, _mm512_set1_epi64(first)), y));
        }
    }
    template <class T> RILL_FN static simd<T> low(simd<T> a, simd<T> b) { return run(a, b, 0); }
    template <class T> RILL_FN static simd<T> high(simd<T> a, simd<T> b) { return run(a, b, simd<T>::lanes / 2); }
};
template <class T>
using zipping = std::conditional_t<sizeof(simd<T>) == 64 && sizeof(T) >= 4, zip_in_512_bits, zip_by_lane>;
#elif RILL_ISA_LEVEL == 3
struct zip_in_256_bits { // the instructions interleave 128-bit halves separately, so a permutation follows
    template <class T, int Half> RILL_FN static simd<T> run(simd<T> a, simd<T> b) {
        const auto x = std::bit_cast<__m256i>(a), y = std::bit_cast<__m256i>(b);
        __m256i low, high;
        if constexpr (sizeof(T) == 4)
            low = _mm256_unpacklo_epi32(x, y), high = _mm256_unpackhi_epi32(x, y);
        else
            low = _mm256_unpacklo_epi64(x, y), high = _mm256_unpackhi_epi64(x, y);
        return std::bit_cast<simd<T>>(_mm256_permute2x128_si256(low, high, Half == 0 ? 0x20 : 0x31));
    }
    template <class T> RILL_FN static simd<T> low(simd<T> a, simd<T> b) { return run<T, 0>(a, b); }
    template <class T> RILL_FN static simd<T> high(simd<T> a, simd<T> b) { return run<T, 1>(a, b); }
};
template <class T>
using zipping = std::conditional_t<sizeof(simd<T>) == 32 && sizeof(T) >= 4, zip_in_256_bits, zip_by_lane>;
#elif defined(__SSE2__)
struct zip_in_128_bits {
    template <class T> RILL_FN static simd<T> low(simd<T> a, simd<T> b) {
        const auto x = std::bit_cast<__m128i>(a), y = std::bit_cast<__m128i>(b);
        return std::bit_cast<simd<T>>(sizeof(T) == 4 ? _mm_unpacklo_epi32(x, y) : _mm_unpacklo_epi64(x, y));
    }
    template <class T> RILL_FN static simd<T> high(simd<T> a, simd<T> b) {
        const auto x = std::bit_cast<__m128i>(a), y = std::bit_cast<__m128i>(b);
        return std::bit_cast<simd<T>>(sizeof(T) == 4 ? _mm_unpackhi_epi32(x, y) : _mm_unpackhi_epi64(x, y));
    }
};
template <class T>
using zipping = std::conditional_t<sizeof(simd<T>) == 16 && sizeof(T) >= 4, zip_in_128_bits, zip_by_lane>;
#else
template <class T> using zipping = zip_by_lane;
#endif

/// S registers, each of which holds part of a row.
template <class T, int S> struct register_rows {
    simd<T> row[S];
};

template <std::size_t I, class T, int S> RILL_FN simd<T> zipped_row(const register_rows<T, S>& in) {
    if constexpr (I % 2 == 0)
        return zipping<T>::low(in.row[I / 2], in.row[I / 2 + S / 2]);
    else
        return zipping<T>::high(in.row[I / 2], in.row[I / 2 + S / 2]);
}
/// Interleaves the rows: doubles `Together`, the number of rows whose elements are adjacent, until it is S.
template <int Together, class T, int S, std::size_t... I>
RILL_FN register_rows<T, S> interleave(const register_rows<T, S>& in, std::index_sequence<I...> all) {
    if constexpr (Together == S)
        return in;
    else
        return interleave<2 * Together>(register_rows<T, S>{{zipped_row<I>(in)...}}, all);
}

template <class T, int S, std::size_t... I>
RILL_FN void interleave_block(const T* from, std::int64_t from_step, int rows, int n, T* to, std::int64_t to_step,
                              std::index_sequence<I...> all) {
    constexpr int lanes = simd<T>::lanes;
    const auto row = [&](std::size_t i) { return from + std::min(static_cast<int>(i), rows - 1) * from_step; };
    register_rows<T, S> in;
    if (n >= lanes)
        in = {{simd<T>::load(row(I))...}};
    else
        in = {{load_some(row(I), 0, n)...}};
    const auto out = interleave<1>(in, all);
    if constexpr (S == lanes) {
        ((static_cast<int>(I) < n ? out.row[I].store(to + static_cast<int>(I) * to_step) : void()), ...);
    } else {
        const int most = std::min(n, lanes) * S;
        (store_some(out.row[I], to, static_cast<int>(I) * lanes, most), ...);
    }
}

/// Transposes: to[l * to_step + r] = from[r * from_step + l] for l < n and r < S. Rows from `rows` on repeat the last row.
/// Requires S == lanes or to_step == S.
template <int S, class T>
void interleave_rows(const T* from, std::int64_t from_step, int rows, std::int64_t n, T* to, std::int64_t to_step) {
    constexpr int lanes = simd<T>::lanes;
    static_assert(S >= 1 && S <= lanes && (S & (S - 1)) == 0);
    for (std::int64_t l = 0; l < n; l += lanes)
        interleave_block<T, S>(from + l, from_step, rows, static_cast<int>(std::min<std::int64_t>(n - l, lanes)),
                               to + l * to_step, to_step, std::make_index_sequence<S>{});
}

#else

/// Transposes element by element, without SIMD.
template <int S, class T>
void interleave_rows(const T* from, std::int64_t from_step, int rows, std::int64_t n, T* to, std::int64_t to_step) {
    for (std::int64_t l = 0; l < n; ++l)
        for (int r = 0; r < S; ++r) to[l * to_step + r] = from[std::min(r, rows - 1) * from_step + l];
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
