// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/simd/simd.hpp>

#if RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

// Partial loads and stores of a register, for which xsimd has no common way. They access only the requested elements.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Loads lanes first, first + 1, … of the count values at `from`. Lanes beyond the last value repeat it.
template <class T> RILL_FN simd<T> load_some(const T* from, int first, int count);
/// Loads like load_some, with zeros beyond the last value.
template <class T> RILL_FN simd<T> load_some_or_zero(const T* from, int first, int count);
/// Stores the lanes of x whose elements are below count; lane 0 is element `first`.
template <class T> RILL_FN void store_some(simd<T> x, T* to, int first, int count);

#if RILL_SIMD_REGISTERS

/// Partial access for any register, through a small buffer.
struct buffered_memory {
    template <class T> RILL_FN static simd<T> load(const T* from, int first, int count) {
        T buffer[simd<T>::lanes];
        for (int i = 0; i < simd<T>::lanes; ++i) buffer[i] = from[std::min(first + i, count - 1)];
        return simd<T>::load(buffer);
    }
    template <class T> RILL_FN static simd<T> load_or_zero(const T* from, int first, int count) {
        T buffer[simd<T>::lanes];
        for (int i = 0; i < simd<T>::lanes; ++i) buffer[i] = first + i < count ? from[first + i] : T(0);
        return simd<T>::load(buffer);
    }
    template <class T> RILL_FN static void store(simd<T> x, T* to, int first, int count) {
        T buffer[simd<T>::lanes];
        x.store(buffer);
        for (int i = 0; i < simd<T>::lanes && first + i < count; ++i) to[first + i] = buffer[i];
    }
};

#if RILL_ISA_LEVEL >= 4

/// Partial access for 512 bits: one masked instruction, whose disabled lanes access no memory.
struct masked_memory {
    RILL_FN static std::uint64_t lanes(int count) { return _bzhi_u64(~std::uint64_t(0), static_cast<unsigned>(count)); }

    template <class T> RILL_FN static simd<T> load(const T* from, int first, int count) {
        return load_over(simd<T>(from[count - 1]), from + first, count - first);
    }
    template <class T> RILL_FN static simd<T> load_or_zero(const T* from, int first, int count) {
        return load_over(simd<T>(T(0)), from + first, count - first);
    }
    template <class T> RILL_FN static simd<T> load_over(simd<T> others, const T* at, int count) {
        const auto on = lanes(std::clamp(count, 0, simd<T>::lanes));
        const auto rest = std::bit_cast<__m512i>(others);
        __m512i out;
        if constexpr (sizeof(T) == 8)
            out = _mm512_mask_loadu_epi64(rest, static_cast<__mmask8>(on), at);
        else if constexpr (sizeof(T) == 4)
            out = _mm512_mask_loadu_epi32(rest, static_cast<__mmask16>(on), at);
        else if constexpr (sizeof(T) == 2)
            out = _mm512_mask_loadu_epi16(rest, static_cast<__mmask32>(on), at);
        else
            out = _mm512_mask_loadu_epi8(rest, on, at);
        return std::bit_cast<simd<T>>(out);
    }
    template <class T> RILL_FN static void store(simd<T> x, T* to, int first, int count) {
        const auto on = lanes(std::clamp(count - first, 0, simd<T>::lanes));
        const auto in = std::bit_cast<__m512i>(x);
        T* at = to + first;
        if constexpr (sizeof(T) == 8)
            _mm512_mask_storeu_epi64(at, static_cast<__mmask8>(on), in);
        else if constexpr (sizeof(T) == 4)
            _mm512_mask_storeu_epi32(at, static_cast<__mmask16>(on), in);
        else if constexpr (sizeof(T) == 2)
            _mm512_mask_storeu_epi16(at, static_cast<__mmask32>(on), in);
        else
            _mm512_mask_storeu_epi8(at, on, in);
    }
};
template <class T> using partial_memory = std::conditional_t<sizeof(simd<T>) == 64, masked_memory, buffered_memory>;

#elif RILL_ISA_LEVEL == 3

/// Partial access for 256 bits: masked moves, which exist for four- and eight-byte elements.
struct masked_memory {
    template <class T> RILL_FN static __m256i lanes(int count) {
        if constexpr (sizeof(T) == 8)
            return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
        else
            return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    template <class T> RILL_FN static simd<T> load(const T* from, int first, int count) {
        const auto rest = std::bit_cast<__m256i>(simd<T>(from[count - 1]));
        const auto in = std::bit_cast<__m256i>(load_or_zero(from, first, count));
        return std::bit_cast<simd<T>>(_mm256_blendv_epi8(rest, in, lanes<T>(count - first)));
    }
    template <class T> RILL_FN static simd<T> load_or_zero(const T* from, int first, int count) {
        const __m256i on = lanes<T>(count - first);
        if constexpr (sizeof(T) == 8)
            return std::bit_cast<simd<T>>(_mm256_maskload_epi64(reinterpret_cast<const long long*>(from + first), on));
        else
            return std::bit_cast<simd<T>>(_mm256_maskload_epi32(reinterpret_cast<const int*>(from + first), on));
    }
    template <class T> RILL_FN static void store(simd<T> x, T* to, int first, int count) {
        const __m256i on = lanes<T>(count - first);
        const auto in = std::bit_cast<__m256i>(x);
        if constexpr (sizeof(T) == 8)
            _mm256_maskstore_epi64(reinterpret_cast<long long*>(to + first), on, in);
        else
            _mm256_maskstore_epi32(reinterpret_cast<int*>(to + first), on, in);
    }
};
template <class T>
using partial_memory = std::conditional_t<sizeof(simd<T>) == 32 && sizeof(T) >= 4, masked_memory, buffered_memory>;

#else

template <class T> using partial_memory = buffered_memory;

#endif

template <class T> RILL_FN simd<T> load_some(const T* from, int first, int count) {
    return partial_memory<T>::load(from, first, count);
}
template <class T> RILL_FN simd<T> load_some_or_zero(const T* from, int first, int count) {
    return partial_memory<T>::load_or_zero(from, first, count);
}
template <class T> RILL_FN void store_some(simd<T> x, T* to, int first, int count) {
    partial_memory<T>::store(x, to, first, count);
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
