// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <rill/config.hpp>

#if RILL_WITH_BLAS
#include <cblas.h>
#endif

// Matrix products by oneDNN or a BLAS, where one exists and is the better choice.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A product as libraries take it: c = op(a) op(b), row-major, with lda, ldb and ldc elements from row to row.
template <class T> struct library_product {
    bool trans_a, trans_b;
    std::int64_t m, n, k;
    const T* a;
    std::int64_t lda;
    const T* b;
    std::int64_t ldb;
    T* c;
    std::int64_t ldc;
};

/// Computes a product by oneDNN on the calling thread. The first call loads the library, which takes 40 ms; programs without large
/// products never pay for it. Returns false if the system has no oneDNN, or oneDNN declines; c is then undefined.
bool onednn_product(const library_product<float>& p);

}}} // namespace rill::RILL_ABI::detail

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// True if our tiles are as wide as the processor's registers. They then equal oneDNN up to products of about 800³ and beat Debian's
/// OpenBLAS everywhere (measured on Zen 5). Builds for older processors gain by a library, which detects the processor at run time.
inline constexpr bool wide_tiles = RILL_SIMD_REGISTERS && RILL_ISA_LEVEL >= 3;

/// The least operations of a product that a library computes.
inline constexpr std::int64_t library_from = wide_tiles ? std::int64_t(1) << 30 : std::int64_t(1) << 21;

template <class T> inline constexpr bool by_onednn = RILL_WITH_ONEDNN && std::is_same_v<T, float>;
template <class T>
inline constexpr bool by_blas =
    RILL_WITH_BLAS && !wide_tiles && (std::is_same_v<T, float> || std::is_same_v<T, double>);

/// Our kernels compute products with sums longer than longest_sum and fewer than few_sums rows or columns. Libraries add such sums one after
/// the other; our kernels add blocks, which is more precise.
inline constexpr std::int64_t longest_sum = 1 << 14, few_sums = 32;

/// Returns true if a library computes products of this shape. The decision depends on the shape alone.
template <class T> constexpr bool library_serves(std::int64_t m, std::int64_t n, std::int64_t k) {
    if (!by_onednn<T> && !by_blas<T>) return false;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (m > most || n > most || k > most) return false;
    if (k > longest_sum && (m < few_sums || n < few_sums)) return false;
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >=
           static_cast<double>(library_from);
}

/// Computes a product by oneDNN, or else by the BLAS. Returns false if neither does; c is then undefined.
template <class T> bool library_gemm([[maybe_unused]] const library_product<T>& p) {
    if constexpr (by_onednn<T>)
        if (onednn_product(p)) return true;
#if RILL_WITH_BLAS
    if constexpr (by_blas<T>) {
        const auto to_int = [](std::int64_t x) { return static_cast<int>(x); };
        const auto op = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
        const auto run = [&](auto gemm) {
            gemm(CblasRowMajor, op(p.trans_a), op(p.trans_b), to_int(p.m), to_int(p.n), to_int(p.k), T(1), p.a,
                 to_int(p.lda), p.b, to_int(p.ldb), T(0), p.c, to_int(p.ldc));
        };
        if constexpr (std::is_same_v<T, float>)
            run(&cblas_sgemm);
        else
            run(&cblas_dgemm);
        return true;
    }
#endif
    return false;
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

#if !RILL_COMPILED
#include <rill/device/cpu/gemm/gemm_library.ipp>
#endif
