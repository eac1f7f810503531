// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <rill/device/cpu/simd/simd.hpp>
#include <rill/device/cpu/simd/tanh_rows.hpp>

#if RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

// The look-up of tanh_by_table (register_math.hpp) in registers: one polynomial per interval of |x|, without exponential or division. It
// is accurate to 1.3 units in the last place. The constants are in tanh_rows.hpp.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

#if RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 4

struct tanh_table : tanh_rows_of_16 {
    __m512i entry;
    template <class V>
    RILL_FN explicit tanh_table(V x) : entry(in_register(shift_right(std::bit_cast<simd<std::uint32_t>>(x), 20))) {}
    RILL_FN simd<float> operator[](int k) const {
        const float* row = rows[k];
        return simd<float>::native(_mm512_permutex2var_ps(_mm512_load_ps(row), entry, _mm512_load_ps(row + 16)));
    }
};

#elif RILL_SIMD_REGISTERS && RILL_ISA_LEVEL == 3

struct tanh_table : tanh_rows_of_8 {
    __m256i entry;
    template <class V>
    RILL_FN explicit tanh_table(V x) : entry(in_register(shift_right(std::bit_cast<simd<std::uint32_t>>(x), 22))) {}
    RILL_FN simd<float> operator[](int k) const {
        return simd<float>::native(_mm256_permutevar8x32_ps(_mm256_load_ps(rows[k]), entry));
    }
};

#else

struct tanh_table {
    static constexpr int bytes = 0; // matches no register size
};

#endif

#if RILL_SIMD_REGISTERS

template <class T>
inline constexpr bool has_tanh_table = std::is_same_v<T, float> && sizeof(simd<T>) == tanh_table::bytes;

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
