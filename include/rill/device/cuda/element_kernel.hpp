// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <rill/device/thrust/element_function.hpp>

// The CUDA kernel that computes elements. For files that nvcc compiles, and for programs that NVRTC compiles at run time.

namespace rill { inline namespace RILL_ABI { namespace detail {

constexpr int block_threads = 256;
/// The number of elements per thread in a large kernel: their reads wait for memory concurrently.
constexpr int most_elements = 4;
constexpr int warp_threads = 32;

/// A guard by which a kernel sees that its step or an earlier one has failed, and then does nothing.
struct failure_guard {
    const std::int32_t* failed; // the first step that failed; null: always runs
    std::int32_t step;

    __device__ bool has_failed() const { return failed && *failed <= step; }
};

/// Computes the elements of f in [0, n) that this thread has: several, a block of threads apart.
template <class F> __device__ void compute_elements(const F& f, index_t n, int elements) {
    const index_t first = static_cast<index_t>(blockIdx.x) * (block_threads * elements) + threadIdx.x;
    if constexpr (loads_together<F>()) {
        if (elements == most_elements && first + (most_elements - 1) * block_threads < n) {
            decltype(f.load(first)) loaded[most_elements];
#pragma unroll
            for (int k = 0; k < most_elements; ++k) loaded[k] = f.load(first + k * block_threads);
#pragma unroll
            for (int k = 0; k < most_elements; ++k) f.finish(first + k * block_threads, loaded[k]);
            return;
        }
    }
    for (int k = 0; k < elements; ++k)
        if (const index_t i = first + k * block_threads; i < n) run_element(f, i);
}

template <class F>
__global__ void __launch_bounds__(block_threads)
    run_elements(const __grid_constant__ F f, index_t n, int elements, failure_guard guard) {
    if (!guard.has_failed()) compute_elements(f, n, elements);
}

/// Returns the number of elements that a thread computes of n. `together`: it can read several at once.
constexpr int elements_of_thread(index_t n, bool together) {
    constexpr index_t large = 1 << 20; // from here on the GPU is busy with fewer threads
    return together && n >= large ? most_elements : 1;
}

}}} // namespace rill::RILL_ABI::detail
