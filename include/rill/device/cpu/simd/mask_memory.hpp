// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/simd/simd.hpp>

#if RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 3
#include <immintrin.h>
#elif RILL_SIMD_REGISTERS && defined(__SSE2__)
#include <emmintrin.h> // compiles in a tenth of the time of <immintrin.h>
#endif

// Transfers between masks and arrays of bool: one byte, 0 or 1, per lane.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

template <class T> RILL_FN simd_mask<T> load_mask(const bool* from);
template <class T> RILL_FN void store_mask(simd_mask<T> m, bool* to);

#if RILL_SIMD_REGISTERS

template <int Bytes> struct bits_of_size;
template <> struct bits_of_size<1> {
    using type = std::uint8_t;
};
template <> struct bits_of_size<2> {
    using type = std::uint16_t;
};
template <> struct bits_of_size<4> {
    using type = std::uint32_t;
};
template <> struct bits_of_size<8> {
    using type = std::uint64_t;
};

/// Masks that are registers of all-one and all-zero lanes, transferred by loops that the compiler vectorizes.
struct wide_masks {
    template <class T> using bits = typename bits_of_size<sizeof(T)>::type;
    template <class T> RILL_FN static void store(simd_mask<T> m, bool* to) {
        bits<T> b[simd<T>::lanes];
        std::memcpy(b, &m, sizeof(b));
        std::uint8_t out[simd<T>::lanes];
        for (int i = 0; i < simd<T>::lanes; ++i) out[i] = static_cast<std::uint8_t>(b[i] & 1u);
        std::memcpy(to, out, sizeof(out));
    }
    template <class T> RILL_FN static simd_mask<T> load(const bool* from) {
        std::uint8_t in[simd<T>::lanes];
        std::memcpy(in, from, sizeof(in));
        bits<T> b[simd<T>::lanes];
        for (int i = 0; i < simd<T>::lanes; ++i) b[i] = static_cast<bits<T>>(0u - bits<T>(in[i]));
        simd_mask<T> m;
        std::memcpy(&m, b, sizeof(b));
        return m;
    }
};

#if RILL_ISA_LEVEL >= 4

/// Masks that are integers, with one bit per lane.
struct bit_masks {
    template <class T> using bits = typename simd_mask<T>::native::register_type;
    template <class T> RILL_FN static void store(simd_mask<T> m, bool* to) {
        const auto on = static_cast<bits<T>>(m.v);
        if constexpr (simd<T>::lanes == 64) {
            _mm512_storeu_si512(to, _mm512_maskz_set1_epi8(static_cast<__mmask64>(on), 1));
        } else if constexpr (simd<T>::lanes == 32) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_maskz_set1_epi8(static_cast<__mmask32>(on), 1));
        } else if constexpr (simd<T>::lanes == 16) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_maskz_set1_epi8(static_cast<__mmask16>(on), 1));
        } else {
            _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_maskz_set1_epi8(static_cast<__mmask16>(on), 1));
        }
    }
    template <class T> RILL_FN static simd_mask<T> load(const bool* from) {
        if constexpr (simd<T>::lanes == 64) {
            const __m512i in = _mm512_loadu_si512(from);
            return typename simd_mask<T>::native(static_cast<bits<T>>(_mm512_test_epi8_mask(in, in)));
        } else if constexpr (simd<T>::lanes == 32) {
            const __m256i in = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
            return typename simd_mask<T>::native(static_cast<bits<T>>(_mm256_test_epi8_mask(in, in)));
        } else if constexpr (simd<T>::lanes == 16) {
            const __m128i in = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
            return typename simd_mask<T>::native(static_cast<bits<T>>(_mm_test_epi8_mask(in, in)));
        } else {
            const __m128i in = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
            return typename simd_mask<T>::native(static_cast<bits<T>>(_mm_test_epi8_mask(in, in)));
        }
    }
};
template <class T> using mask_memory = std::conditional_t<sizeof(simd<T>) == 64, bit_masks, wide_masks>;

#elif defined(__SSE2__)

/// Masks of four- and eight-byte lanes, transferred with instructions that pack lanes into bytes.
struct packed_masks {
    template <class T> RILL_FN static void store(simd_mask<T> m, bool* to) {
        constexpr int lanes = simd<T>::lanes;
        __m128i low, high; // 32 bits per lane
#if RILL_ISA_LEVEL == 3
        const auto x = std::bit_cast<__m256i>(m);
        low = _mm256_castsi256_si128(x), high = _mm256_extracti128_si256(x, 1);
#else
        low = std::bit_cast<__m128i>(m), high = low;
#endif
        if constexpr (sizeof(T) == 8) {
            low = _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), 0x88));
            high = low;
        }
        const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(low, high), _mm_setzero_si128());
        const __m128i ones = _mm_and_si128(bytes, _mm_set1_epi8(1));
        std::memcpy(to, &ones, lanes);
    }
    template <class T> RILL_FN static simd_mask<T> load(const bool* from) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, simd<T>::lanes);
        const __m128i in = _mm_cvtsi64_si128(static_cast<long long>(word));
#if RILL_ISA_LEVEL == 3
        const __m256i zero = _mm256_setzero_si256();
        if constexpr (sizeof(T) == 8)
            return std::bit_cast<simd_mask<T>>(_mm256_sub_epi64(zero, _mm256_cvtepu8_epi64(in)));
        else
            return std::bit_cast<simd_mask<T>>(_mm256_sub_epi32(zero, _mm256_cvtepu8_epi32(in)));
#else
        const __m128i twice = _mm_unpacklo_epi8(in, in), four = _mm_unpacklo_epi16(twice, twice);
        const __m128i filled = sizeof(T) == 8 ? _mm_unpacklo_epi32(four, four) : four;
        return std::bit_cast<simd_mask<T>>(_mm_cmpgt_epi32(filled, _mm_setzero_si128()));
#endif
    }
};
template <class T>
using mask_memory = std::conditional_t<sizeof(simd_mask<T>) == (RILL_ISA_LEVEL == 3 ? 32 : 16) && sizeof(T) >= 4,
                                       packed_masks, wide_masks>;

#else

template <class T> using mask_memory = wide_masks;

#endif

template <class T> RILL_FN void store_mask(simd_mask<T> m, bool* to) { mask_memory<T>::store(m, to); }
template <class T> RILL_FN simd_mask<T> load_mask(const bool* from) { return mask_memory<T>::template load<T>(from); }

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
