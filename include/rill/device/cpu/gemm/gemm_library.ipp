// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/cpu/gemm/gemm_library.hpp>

#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The functions that we call, with their C signatures: oneDNN's, and those of its OpenMP library if it has one.
struct onednn_functions {
    int (*sgemm)(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*, std::int64_t, const float*,
                 std::int64_t, float, float*, std::int64_t) = nullptr;
    int (*most_threads)() = nullptr;
    void (*set_threads)(int) = nullptr;

    static onednn_functions find() noexcept {
        onednn_functions f;
        for (const char* file : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.dylib"})
            if (void* library = load_library(file)) {
                f.sgemm = reinterpret_cast<decltype(f.sgemm)>(library_function(library, "dnnl_sgemm"));
                f.most_threads =
                    reinterpret_cast<decltype(f.most_threads)>(library_function(library, "omp_get_max_threads"));
                f.set_threads =
                    reinterpret_cast<decltype(f.set_threads)>(library_function(library, "omp_set_num_threads"));
                if (f.sgemm) break;
            }
        return f;
    }
};

RILL_INLINE bool onednn_product(const library_product<float>& p) {
    static const onednn_functions with = onednn_functions::find();
    if (!with.sgemm) return false;
    // OpenMP keeps the number of threads per calling thread: the user's setting is restored
    const bool openmp = with.most_threads && with.set_threads;
    const int before = openmp ? with.most_threads() : 1;
    if (before != 1) with.set_threads(1);
    const int status = with.sgemm(p.trans_a ? 'T' : 'N', p.trans_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f, p.a, p.lda, p.b,
                                  p.ldb, 0.0f, p.c, p.ldc);
    if (before != 1) with.set_threads(before);
    return status == 0;
}

}}} // namespace rill::RILL_ABI::detail
