// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/device/cpu/pack.hpp>

namespace rill::inline RILL_ABI::inline RILL_ISA {

/// Scratch memory that gemm wants, 64-byte aligned.
template <class T> std::size_t gemm_scratch_bytes(bool, bool, std::int64_t, std::int64_t, std::int64_t) { return 0; }

/// c = op(a) op(b), dense row-major matrices; op transposes where asked. c is m × n and overwritten.
template <class T>
void gemm(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, const T* a, const T* b, T* c, void*) {
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            lane<compute_type<T>> sum(0);
            for (std::int64_t l = 0; l < k; ++l)
                sum = fma(lane<compute_type<T>>(compute_type<T>(a[trans_a ? l * m + i : i * k + l])),
                          lane<compute_type<T>>(compute_type<T>(b[trans_b ? j * k + l : l * n + j])), sum);
            c[i * n + j] = T(sum.v);
        }
}

} // namespace rill::inline RILL_ABI::inline RILL_ISA
