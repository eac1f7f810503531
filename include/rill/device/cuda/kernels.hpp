// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernels of CUDA that functions of elements, lines and rows run in. For files that nvcc compiles.

#include <cstdint>
#include <limits>

#include <rill/device/execution_context.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/thrust/launch.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

constexpr int block_threads = 256;
/// The elements of one thread in a large kernel: their reads wait for memory at the same time.
constexpr int most_elements = 4;
constexpr int warp_threads = 32;

/// Tells a kernel that its step, or an earlier one, has failed: it then does nothing.
struct failure_guard {
    const error_record* errors; // null: always runs
    std::int32_t step;

    __device__ bool has_failed() const { return errors && errors->step <= step; }
};

/// Computes the elements of f in [0, n): each thread so many, a block of threads apart.
template <class F>
__global__ void __launch_bounds__(block_threads)
    run_elements(const __grid_constant__ F f, index_t n, int elements, failure_guard guard) {
    if (guard.has_failed()) return;
    const index_t first = static_cast<index_t>(blockIdx.x) * (block_threads * elements) + threadIdx.x;
    if constexpr (loads_first<F>) {
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

/// Combines the elements of lines. A group of threads, a power of two, has a line: each thread combines every group-th element, and the
/// threads' values are combined in a tree.
template <class F>
__global__ void __launch_bounds__(block_threads)
    fold_lines(const __grid_constant__ F f, index_t lines, int group, failure_guard guard) {
    using sum = decltype(F::identity());
    __shared__ alignas(sum) unsigned char memory[sizeof(sum) * block_threads];
    auto* const all = reinterpret_cast<sum*>(memory);
    if (guard.has_failed()) return; // so do all threads of the block
    const int thread = static_cast<int>(threadIdx.x), member = thread % group;
    const index_t i = (static_cast<index_t>(blockIdx.x) * block_threads + thread) / group;
    const auto line = f.open(i < lines ? i : lines - 1);
    sum own = F::identity();
    index_t k = member;
    for (; k + 3 * group < line.count; k += 4 * group) {
        const sum a = line.element(k), b = line.element(k + group), c = line.element(k + 2 * group),
                  d = line.element(k + 3 * group);
        own = F::merge(own, F::merge(F::merge(a, b), F::merge(c, d)));
    }
    for (; k < line.count; k += group) own = F::merge(own, line.element(k));
    if (group > 1) {
        all[thread] = own;
        for (int half = group / 2; half > 0; half /= 2) {
            __syncthreads();
            if (member < half) all[thread] = F::merge(all[thread], all[thread + half]);
        }
        own = all[thread];
    }
    if (member == 0 && i < lines) f.finish(line, own);
}

// Functions of a warp. Functions of rows are compiled for the host as well, where none of these is called.

/// Returns the number of this thread in its warp.
RILL_FN index_t thread_of_warp() {
#if defined(__CUDA_ARCH__)
    return threadIdx.x % warp_threads;
#else
    return 0;
#endif
}
/// Waits for the other threads of the warp, and for what they wrote.
RILL_FN void meet_warp() {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
}
/// Returns the value of the thread whose number differs in one bit.
template <class C> RILL_FN C other_thread(const C& value, [[maybe_unused]] int bit) {
#if defined(__CUDA_ARCH__)
    return __shfl_xor_sync(0xffffffffu, value, bit);
#else
    return value;
#endif
}

/// The layout of a row that a warp walks over: each thread has every 32nd column.
template <class C> class warp_row {
public:
    using V = lane<C>;
    static constexpr int lanes = 1;
    int rows; // one thread computes what there is one of for a row

    RILL_FN explicit warp_row(index_t columns)
        : rows(thread_of_warp() == 0), first_(thread_of_warp()), columns_(columns) {}

    RILL_FN static V load(const C* from, index_t at) { return V(from[at]); }
    RILL_FN static void store(const V& v, C* to, index_t at) { to[at] = v.v; }
    template <class G> RILL_FN void each(G g) const {
        meet_warp();
        for (index_t i = first_; i < columns_; i += warp_threads) g(i);
        meet_warp();
    }
    template <class G> RILL_FN V sum(G g) const {
        V all(C(0));
        each([&](index_t i) { all = all + g(i); });
        return of_warp(all, [](const V& a, const V& b) { return a + b; });
    }
    template <class G> RILL_FN V largest(G g) const {
        V all(-std::numeric_limits<C>::infinity());
        each([&](index_t i) { all = max(all, g(i)); });
        return of_warp(all, [](const V& a, const V& b) { return max(a, b); });
    }
    RILL_FN static index_t place(int, index_t column) { return column; }
    RILL_FN static void store_numbers(const V& v, C* to) { *to = v.v; }

private:
    /// Combines the values of a warp; every thread gets the result.
    template <class Merge> RILL_FN static V of_warp(V all, const Merge& merge) {
        for (int apart = warp_threads / 2; apart > 0; apart /= 2) all = merge(all, V(other_thread(all.v, apart)));
        return all;
    }

    index_t first_, columns_;
};

/// Computes rows of f, a warp each.
template <class F>
__global__ void __launch_bounds__(block_threads)
    run_rows(const __grid_constant__ F f, index_t rows, failure_guard guard) {
    if (guard.has_failed()) return;
    const index_t row = (static_cast<index_t>(blockIdx.x) * block_threads + threadIdx.x) / warp_threads;
    if (row < rows) f.template run<warp_row>(row);
}

}}} // namespace rill::RILL_ABI::detail
