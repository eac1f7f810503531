// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/any_array.hpp>
#include <rill/device/cpu/expression_kernel.hpp>
#include <rill/device/cpu/fused.hpp>
#include <rill/device/cpu/gemm.hpp>
#include <rill/device/cpu/indexing.hpp>
#include <rill/device/cpu/random.hpp>
#include <rill/device/cpu/softmax.hpp>
#include <rill/device/cpu/strided_copy.hpp>
#include <rill/device/cpu/update.hpp>

namespace rill::inline RILL_ABI::inline RILL_ISA {

/// The CPU as a device: the primitives that ops are written on. Another device offers the same names. The type carries
/// the instruction set, and so does every kernel bound to it.
struct cpu {
    /// c = op(a) op(b), dense row-major.
    template <class T>
    static void gemm(bool ta, bool tb, index_t m, index_t n, index_t k, const T* a, const T* b, T* c, void* scratch,
                     thread_pool* pool) {
        rill::gemm<T>(ta, tb, m, n, k, a, b, c, scratch, pool);
    }
    template <class T>
    static std::size_t gemm_scratch(bool ta, bool tb, index_t m, index_t n, index_t k, thread_pool* pool) {
        return gemm_scratch_bytes<T>(ta, tb, m, n, k, pool ? pool->threads() : 1);
    }
    /// What it takes on one thread, roughly, and whether a pool helps.
    static double gemm_microseconds(index_t m, index_t n, index_t k) {
        return 2e-5 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    }
    template <class T>
    static bool gemm_is_shared(bool ta, bool tb, index_t m, index_t n, index_t k, const thread_pool* pool) {
        return pool && detail::product_is_shared<T>({ta, tb, m, n, k}, pool->threads());
    }
    /// to[i] = S(from[i]...): an expression structure over dense arrays.
    template <class S, class To, class... From> static void map(index_t n, To* to, const From*... from) {
        const void* leaves[] = {from...};
        void* results[] = {to};
        forward_block<S>({leaves, nullptr, results, nullptr, n});
    }
    /// Changes arrays in place, given others and some numbers.
    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(index_t n, const std::array<T*, S>& state, const std::array<const T*, I>& in,
                       const std::array<T, C>& constants, thread_pool* pool) {
        update_arrays<F>(n, state, in, constants, pool);
    }
    /// Copies one layout into another: transpose, concat, slice, tile.
    template <class T> static void copy(const T* from, T* to, const detail::strided_layout& l) {
        detail::strided_copy(from, to, l, 0);
    }
    /// Copies n elements of any type.
    static void copy(dtype type, const void* from, void* to, index_t n) { detail::copy_elements(type, from, to, n); }
    template <class T> static void fill(index_t n, T* to, const T& value) { std::fill_n(to, n, value); }

    /// Slices of arrays seen as [outer, extent, inner], chosen along `extent`; see indexing.hpp.
    template <class I> static index_t first_outside(const I* ids, index_t n, index_t extent) {
        return rill::first_outside(ids, n, extent);
    }
    template <class T, class I>
    static void gather(const T* table, const I* ids, T* to, index_t outer, index_t extent, index_t inner,
                       index_t count) {
        gather_slices(table, ids, to, outer, extent, inner, count);
    }
    template <class T, class I>
    static void scatter_add(const T* from, const I* ids, T* to, index_t outer, index_t extent, index_t inner,
                            index_t count) {
        scatter_add_slices(from, ids, to, outer, extent, inner, count);
    }
    template <class T, class I> static void one_hot(const I* ids, T* to, index_t count, index_t depth, T on, T off) {
        one_hot_rows(ids, to, count, depth, on, off);
    }
    template <class T, class Out>
    static void argmax(const T* x, Out* to, index_t outer, index_t extent, index_t inner) {
        arg_extreme<max_combine>(x, to, outer, extent, inner);
    }
    template <class T, class Out>
    static void argmin(const T* x, Out* to, index_t outer, index_t extent, index_t inner) {
        arg_extreme<min_combine>(x, to, outer, extent, inner);
    }

    /// Functions of the rows of matrices; see softmax.hpp. `arrays` of them need scratch memory together.
    template <class T> static std::size_t row_scratch(index_t columns, int arrays) {
        return row_scratch_bytes<T>(columns, arrays);
    }
    template <class T> static void softmax(index_t rows, index_t columns, const T* x, T* y, void* scratch) {
        softmax_rows(rows, columns, x, y, scratch);
    }
    template <class T> static void log_softmax(index_t rows, index_t columns, const T* x, T* y, void* scratch) {
        log_softmax_rows(rows, columns, x, y, scratch);
    }
    template <class T>
    static void softmax_cross_entropy(index_t rows, index_t columns, const T* x, const T* labels, T* loss, T* gradient,
                                      void* scratch) {
        softmax_cross_entropy_rows(rows, columns, x, labels, loss, gradient, scratch);
    }
    template <class T, class I>
    static void softmax_cross_entropy(index_t rows, index_t columns, const T* x, const I* ids, T* loss, T* gradient,
                                      void* scratch)
        requires(!std::is_same_v<T, I>)
    {
        sparse_softmax_cross_entropy_rows(rows, columns, x, ids, loss, gradient, scratch);
    }

    /// Random numbers: element i depends on the stream and i alone; see random.hpp.
    template <class T> static void random_uniform(index_t n, const random_stream& s, double from, double end, T* to) {
        fill_uniform(n, s, from, end, to);
    }
    template <class T>
    static void random_normal(index_t n, const random_stream& s, double mean, double deviation, T* to) {
        fill_normal(n, s, mean, deviation, to);
    }
    template <class T>
    static void truncated_normal(index_t n, const random_stream& s, double mean, double deviation, T* to) {
        fill_truncated_normal(n, s, mean, deviation, to);
    }
};

} // namespace rill::inline RILL_ABI::inline RILL_ISA
