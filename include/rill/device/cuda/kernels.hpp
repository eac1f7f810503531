// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// CUDA kernels that run functions of elements, lines and rows. For files that nvcc compiles.

#include <cstdint>
#include <limits>

#include <rill/device/cuda/element_kernel.hpp>
#include <rill/device/lane.hpp>
#include <rill/device/thrust/launch.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Combines the elements of lines. A group of threads, whose size is a power of two, takes a line. Each thread combines every group-th
/// element, and the threads' values are combined in a tree.
template <class F>
__global__ void __launch_bounds__(block_threads)
    fold_lines(const __grid_constant__ F f, index_t lines, int group, failure_guard guard) {
    using sum = decltype(F::identity());
    __shared__ alignas(sum) unsigned char memory[sizeof(sum) * block_threads];
    auto* const all = reinterpret_cast<sum*>(memory);
    if (guard.has_failed()) return; // all threads of the block return
    const int thread = static_cast<int>(threadIdx.x), member = thread % group;
    const index_t i = (static_cast<index_t>(blockIdx.x) * block_threads + thread) / group;
    const auto line = f.open(i < lines ? i : lines - 1);
    sum own = F::identity();
    index_t k = member;
    // several reads wait for memory concurrently; lines with more code per element are read one by one
    constexpr int together = 8;
    for (; line.is_regular && k + (together - 1) * group < line.count; k += together * group) {
        sum x[together];
#pragma unroll
        for (int j = 0; j < together; ++j) x[j] = line.regular_element(k + j * group);
#pragma unroll
        for (int half = together / 2; half > 0; half /= 2)
#pragma unroll
            for (int j = 0; j < half; ++j) x[j] = F::merge(x[j], x[j + half]);
        own = F::merge(own, x[0]);
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

/// The layout of a row that n threads share, a warp or a block. Thread t of n has columns t, t + n, …. Row functions are also compiled
/// for the host, which never calls them with this layout.
template <class C, int Threads> class group_row {
public:
    using V = lane<C>;
    static constexpr int lanes = 1;
    int rows; // one thread computes the values that exist once per row

    RILL_FN explicit group_row(index_t columns) : rows(thread() == 0), first_(thread()), columns_(columns) {}

    RILL_FN static V load(const C* from, index_t at) { return V(from[at]); }
    RILL_FN static void store(const V& v, C* to, index_t at) { to[at] = v.v; }
    template <class G> RILL_FN void each(G g) const {
        meet();
        for (index_t i = first_; i < columns_; i += Threads) g(i);
        meet();
    }
    template <class G> RILL_FN V sum(G g) const {
        V all(C(0));
        each([&](index_t i) { all = all + g(i); });
        return of_group(all, [](const V& a, const V& b) { return a + b; });
    }
    template <class G> RILL_FN V largest(G g) const {
        V all(-std::numeric_limits<C>::infinity());
        each([&](index_t i) { all = max(all, g(i)); });
        return of_group(all, [](const V& a, const V& b) { return max(a, b); });
    }
    RILL_FN static index_t place(int, index_t column) { return column; }
    RILL_FN static void store_numbers(const V& v, C* to) { *to = v.v; }

private:
    static constexpr int warps = Threads / warp_threads;

    /// Returns the number of this thread in its group.
    RILL_FN static int thread() {
#if defined(__CUDA_ARCH__)
        return static_cast<int>(threadIdx.x) % Threads;
#else
        return 0;
#endif
    }
    /// Synchronizes the threads of the group, and their writes.
    RILL_FN static void meet() {
#if defined(__CUDA_ARCH__)
        if constexpr (warps == 1)
            __syncwarp();
        else
            __syncthreads();
#endif
    }
    /// Combines the values of a group; every thread gets the result.
    template <class Merge> RILL_FN static V of_group(V all, [[maybe_unused]] const Merge& merge) {
#if defined(__CUDA_ARCH__)
        for (int bit = warp_threads / 2; bit > 0; bit /= 2)
            all = merge(all, V(__shfl_xor_sync(0xffffffffu, all.v, bit)));
        if constexpr (warps > 1) {
            __shared__ C of_warp[warps];
            if (thread() % warp_threads == 0) of_warp[thread() / warp_threads] = all.v;
            meet();
            all = V(of_warp[0]);
            for (int w = 1; w < warps; ++w) all = merge(all, V(of_warp[w]));
            meet(); // the next values of the warps use the same memory
        }
#endif
        return all;
    }

    index_t first_, columns_;
};
template <class C> using warp_row = group_row<C, warp_threads>;
template <class C> using block_row = group_row<C, block_threads>;

/// Computes rows of f, each by a group of threads.
template <template <class> class Layout, class F>
__global__ void __launch_bounds__(block_threads)
    run_rows(const __grid_constant__ F f, index_t rows, int group, failure_guard guard) {
    if (guard.has_failed()) return;
    const index_t row = (static_cast<index_t>(blockIdx.x) * block_threads + threadIdx.x) / group;
    if (row < rows) f.template run<Layout>(row);
}

}}} // namespace rill::RILL_ABI::detail
