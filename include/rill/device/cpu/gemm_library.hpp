// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <rill/config.hpp>

#if RILL_WITH_ONEDNN
#include <dnnl.h>
#elif RILL_WITH_BLAS
#include <cblas.h>
#endif

// Matrix products by oneDNN or by a BLAS, where the build has one and it is the better choice.

namespace rill::inline RILL_ABI::detail::inline RILL_ISA {

/// Our tiles are as wide as the processor's registers: then they equal oneDNN up to products of about 800³ and beat
/// Debian's OpenBLAS everywhere (measured on Zen 5). A build for older processors gains by a library that looks at the
/// processor when it runs.
inline constexpr bool wide_tiles = RILL_WITH_XSIMD && RILL_ISA_LEVEL >= 3;

/// From how many operations on a library is asked. The first call of oneDNN costs 40 ms: small programs never make it.
inline constexpr std::int64_t library_from = wide_tiles ? std::int64_t(1) << 30 : std::int64_t(1) << 21;

/// The decision: whether a product is a library's.
template <class T> constexpr bool library_serves(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr bool by_onednn = RILL_WITH_ONEDNN && std::is_same_v<T, float>;
    constexpr bool by_blas =
        RILL_WITH_BLAS && !RILL_WITH_ONEDNN && !wide_tiles && (std::is_same_v<T, float> || std::is_same_v<T, double>);
    if (!by_onednn && !by_blas) return false;
    if (by_blas && std::max({m, n, k}) > std::numeric_limits<int>::max()) return false;
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >=
           static_cast<double>(library_from);
}

/// c = op(a) op(b) as in gemm, for positive extents. False if the library declines; c is then undefined.
template <class T>
bool library_gemm([[maybe_unused]] bool trans_a, [[maybe_unused]] bool trans_b, [[maybe_unused]] std::int64_t m,
                  [[maybe_unused]] std::int64_t n, [[maybe_unused]] std::int64_t k, [[maybe_unused]] const T* a,
                  [[maybe_unused]] const T* b, [[maybe_unused]] T* c) {
#if RILL_WITH_ONEDNN
    if constexpr (std::is_same_v<T, float>)
        return dnnl_sgemm(trans_a ? 'T' : 'N', trans_b ? 'T' : 'N', m, n, k, 1.0f, a, trans_a ? m : k, b,
                          trans_b ? k : n, 0.0f, c, n) == dnnl_success;
#elif RILL_WITH_BLAS
    const auto to_int = [](std::int64_t x) { return static_cast<int>(x); };
    const auto op = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
    if constexpr (std::is_same_v<T, float>) {
        cblas_sgemm(CblasRowMajor, op(trans_a), op(trans_b), to_int(m), to_int(n), to_int(k), 1.0f, a,
                    to_int(trans_a ? m : k), b, to_int(trans_b ? k : n), 0.0f, c, to_int(n));
        return true;
    } else if constexpr (std::is_same_v<T, double>) {
        cblas_dgemm(CblasRowMajor, op(trans_a), op(trans_b), to_int(m), to_int(n), to_int(k), 1.0, a,
                    to_int(trans_a ? m : k), b, to_int(trans_b ? k : n), 0.0, c, to_int(n));
        return true;
    }
#endif
    return false;
}

} // namespace rill::inline RILL_ABI::detail::inline RILL_ISA
