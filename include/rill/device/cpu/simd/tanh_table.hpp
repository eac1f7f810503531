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

// tanh of floats by table look-up in registers: one polynomial per interval of |x|, without exponential or division.
// It is accurate to 1.3 units in the last place. The constants are in tanh_rows.hpp.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

#if RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 4

struct tanh_table : tanh_rows_of_16 {
    __m512i entry;
    template <class V>
    RILL_FN explicit tanh_table(V x) : entry(in_register(shift_right(std::bit_cast<simd<std::uint32_t>>(x), 20))) {}
    RILL_FN __m512 operator[](int k) const {
        const float* row = rows[k];
        return _mm512_permutex2var_ps(_mm512_load_ps(row), entry, _mm512_load_ps(row + 16));
    }
};

#elif RILL_SIMD_REGISTERS && RILL_ISA_LEVEL == 3

struct tanh_table : tanh_rows_of_8 {
    __m256i entry;
    template <class V>
    RILL_FN explicit tanh_table(V x) : entry(in_register(shift_right(std::bit_cast<simd<std::uint32_t>>(x), 22))) {}
    RILL_FN __m256 operator[](int k) const { return _mm256_permutevar8x32_ps(_mm256_load_ps(rows[k]), entry); }
};

#else

struct tanh_table {
    static constexpr int bytes = 0; // matches no register size
};

#endif

#if RILL_SIMD_REGISTERS

template <class T>
inline constexpr bool has_tanh_table = std::is_same_v<T, float> && sizeof(simd<T>) == tanh_table::bytes;

/// Evaluates c[K] + c[K + 1] r + ….
template <int K, class V, class Table> RILL_FN V tanh_polynomial(V r, const Table& c) {
    const V here = typename V::native(c[K]);
    if constexpr (K <= Table::degree)
        return fma(tanh_polynomial<K + 1>(r, c), r, here);
    else
        return here;
}

/// Computes tanh(x). A NaN selects an arbitrary entry and passes through r.
template <class Table, class V> RILL_FN V tanh_by_table(V x) {
    const V a = smaller(V(Table::most), abs(x));
    const Table table(fma(a, V(Table::scale), V(Table::shift)));
    return tanh_polynomial<1>(a - V(typename V::native(table[0])), table) | (x & V(-0.0f));
}

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
