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

// Matrix products by oneDNN or by a BLAS, where there is one and it is the better choice.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A product as libraries take it: c = op(a) op(b), row-major, rows ldb and ldc apart.
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

/// oneDNN's product, on the calling thread alone. The library is loaded when the first one is asked for, which takes 40 ms, so
/// that programs without large products never pay for it. False if the system has none, or if it declines; c is then undefined.
bool onednn_product(const library_product<float>& p);

}}} // namespace rill::RILL_ABI::detail

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Our tiles are as wide as the processor's registers: then they equal oneDNN up to products of about 800³ and beat
/// Debian's OpenBLAS everywhere (measured on Zen 5). A build for older processors gains by a library that looks at the
/// processor when it runs.
inline constexpr bool wide_tiles = RILL_WITH_XSIMD && RILL_ISA_LEVEL >= 3;

/// From how many operations on a library is asked.
inline constexpr std::int64_t library_from = wide_tiles ? std::int64_t(1) << 30 : std::int64_t(1) << 21;

template <class T> inline constexpr bool by_onednn = RILL_WITH_ONEDNN && std::is_same_v<T, float>;
template <class T>
inline constexpr bool by_blas =
    RILL_WITH_BLAS && !wide_tiles && (std::is_same_v<T, float> || std::is_same_v<T, double>);

/// Libraries add up long sums of few rows or columns one after the other: our own kernels, which add up blocks, keep these precise.
inline constexpr std::int64_t long_sum = 1 << 14, few_sums = 32;

/// The decision, by the shape alone: whether a product is a library's.
template <class T> constexpr bool library_serves(std::int64_t m, std::int64_t n, std::int64_t k) {
    if (!by_onednn<T> && !by_blas<T>) return false;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (m > most || n > most || k > most) return false;
    if (k > long_sum && (m < few_sums || n < few_sums)) return false;
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >=
           static_cast<double>(library_from);
}

/// oneDNN first, then the BLAS. False if neither does it; c is then undefined.
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
