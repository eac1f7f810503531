// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <rill/core/any_array.hpp>
#include <rill/device/cpu/fusion/expression_kernel.hpp>
#include <rill/device/cpu/fusion/fused_kernel.hpp>
#include <rill/device/cpu/gemm/gemm.hpp>
#include <rill/device/cpu/primitives/indexing.hpp>
#include <rill/device/cpu/primitives/rows.hpp>
#include <rill/device/cpu/primitives/scan.hpp>
#include <rill/device/cpu/primitives/strided_copy.hpp>
#include <rill/device/cpu/primitives/update.hpp>
#include <rill/device/cpu/random/random.hpp>
#include <rill/device/cpu/random/random_gamma.hpp>
#include <rill/device/cpu/random/random_multinomial.hpp>
#include <rill/device/cpu/random/random_poisson.hpp>
#include <rill/device/cpu/scalar/scalar_loop_kernel.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// The CPU device: the primitives that ops are written on. Other devices offer the same names.
/// The type lives in the namespace of an instruction-set level, and so does every kernel bound to it.
struct cpu {
    /// The device's name, and the prefix of its keys in the kernel registry.
    static constexpr std::string_view type = "cpu";

    // ---- elementwise loops: compiled for structures and dtypes, bound to programs ------------------------------------------

    template <class S> static void compile_expression() { rill::compile_expression<S>(); }
    template <class S> static void compile_one_op() { rill::compile_one_op<S>(); }
    template <combine How, class T> static void compile_reducer() { rill::compile_reducer<How, T>(); }
    /// Binds a fused node, or a fusion group over one space: maps, reductions and broadcasts.
    static kernel fused(const fused_spec& spec, kernel_request& request) { return detail::fused_loops(spec, request); }
    static kernel fused(const fusion_group& chain, kernel_request& request) {
        return detail::fused_loops(chain, request);
    }
    /// Binds a scalar loop. Only devices whose memory belongs to the host offer it.
    static kernel fused(const scalar_loop& loop, kernel_request& request) {
        return detail::scalar_loop_kernel(loop, request);
    }

    // ---- primitives ----------------------------------------------------------------------------------------------------------

    /// Computes c = op(a) op(b), dense row-major, then applies the epilogue `last`. `ta` and `tb` transpose a and b.
    template <class T>
    static void gemm(bool ta, bool tb, index_t m, index_t n, index_t k, const T* a, const T* b, T* c, void* scratch,
                     thread_pool* pool, const product_epilogue<T>& last = {}) {
        rill::gemm<T>(ta, tb, m, n, k, a, b, c, scratch, pool, last);
    }
    template <class T>
    static std::size_t gemm_scratch(bool ta, bool tb, index_t m, index_t n, index_t k, thread_pool* pool) {
        return gemm_scratch_bytes<T>(ta, tb, m, n, k, pool ? pool->threads() : 1);
    }
    /// Returns the estimated time of a matrix product on one thread, in microseconds.
    static double gemm_microseconds(index_t m, index_t n, index_t k) {
        return 2e-5 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    }
    template <class T>
    static bool gemm_is_shared(bool ta, bool tb, index_t m, index_t n, index_t k, const thread_pool* pool) {
        return pool && detail::product_is_shared<T>({ta, tb, m, n, k}, pool->threads());
    }
    /// Computes new values of the arrays `was`, from these, the arrays `in` and some scalars, and writes them to `state`. A new array is
    /// in the place of its old one, or apart from it.
    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(index_t n, const std::array<const T*, S>& was, const std::array<T*, S>& state,
                       const std::array<const T*, I>& in, const std::array<T, C>& constants, thread_pool* pool) {
        update_arrays<F>(n, was, state, in, constants, pool);
    }
    /// Applies the update to slices: slice ids[k] of each state, with slice k of the inputs. Given scratch memory, it adds the inputs of
    /// equal ids first and updates each slice once. Without it, it applies the slices one after the other.
    template <class F, class T, class I, std::size_t S, std::size_t N, std::size_t C>
    static void update_rows(const I* ids, index_t count, index_t inner, const std::array<T*, S>& state,
                            const std::array<const T*, N>& in, const std::array<T, C>& constants, void* scratch) {
        update_array_rows<F>(ids, count, inner, state, in, constants, scratch);
    }
    template <class T> static std::size_t update_rows_scratch(index_t count, index_t inner, int inputs) {
        return update_rows_scratch_bytes<T>(count, inner, inputs);
    }
    /// Copies one layout into another; implements transpose, concat, slice and tile.
    template <class T> static void copy(const T* from, T* to, const detail::strided_layout& l) {
        detail::strided_copy(from, to, l, 0);
    }
    /// Adds one layout to another. Each element of the destination must have an address of its own.
    template <class T> static void add(const T* from, T* to, const detail::strided_layout& l) {
        detail::strided_add(from, to, l, 0);
    }
    /// Copies n elements of type `of`.
    static void copy(dtype of, const void* from, void* to, index_t n) { detail::copy_elements(of, from, to, n); }
    template <class T> static void fill(index_t n, T* to, const T& value) { std::fill_n(to, n, value); }

    /// Returns the first id outside [0, extent). The index primitives see arrays as [outer, extent, inner]; see indexing.hpp.
    template <class I> static outside_index first_outside(const I* ids, index_t n, index_t extent) {
        return rill::first_outside(ids, n, extent);
    }
    /// Returns the first element that is infinite or NaN.
    template <class T> static outside_index first_not_finite(const T* x, index_t n) {
        return rill::first_not_finite(x, n);
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
    /// Writes the index along `extent` of the largest (or smallest) element.
    template <bool Largest, class T, class Out>
    static void arg_extreme(const T* x, Out* to, index_t outer, index_t extent, index_t inner) {
        rill::arg_extreme<std::conditional_t<Largest, max_combine, min_combine>>(x, to, outer, extent, inner);
    }
    /// Computes running sums or products along `extent`; see scan.hpp.
    template <combine How, class T>
    static void scan(const T* x, T* to, index_t outer, index_t extent, index_t inner, bool exclusive, bool reverse) {
        running_values<How>(x, to, outer, extent, inner, exclusive, reverse);
    }
    /// Computes a linear recurrence along `extent`: each element is a factor times the previous one, plus a term; see scan.hpp.
    template <class T>
    static void linear_recurrence(const T* factors, const T* terms, T* to, index_t outer, index_t extent, index_t inner,
                                  bool reverse) {
        rill::linear_recurrence(factors, terms, to, outer, extent, inner, reverse);
    }

    /// Returns the scratch bytes of `rows`, which calls f(layout, in, out, row numbers) for the rows of matrices; see rows.hpp.
    /// Only narrow types (half, bfloat16) need scratch memory.
    template <class T> static std::size_t row_scratch(index_t columns, int arrays) {
        return row_scratch_bytes<T>(columns, arrays);
    }
    template <class T, class I, std::size_t In, std::size_t Out, class F>
    static void rows(index_t count, index_t columns, const std::array<const T*, In>& in, const std::array<T*, Out>& out,
                     const row_numbers<T, I>& numbers, void* scratch, const F& f) {
        detail::over_rows<T, In, Out>(count, columns, in, out, numbers, scratch, f);
    }

    /// Fills n elements with uniform random numbers. Element i depends only on the stream and i; see random.hpp.
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
    template <class T> static void random_gamma(index_t n, const random_stream& s, double shape, double rate, T* to) {
        fill_gamma(n, s, shape, rate, to);
    }
    template <class T> static void random_poisson(index_t n, const random_stream& s, double rate, T* to) {
        fill_poisson(n, s, rate, to);
    }
    /// Draws classes from rows of logits; see random_multinomial.hpp. Returns the first invalid row. `scratch`: multinomial_scratch bytes.
    template <class T>
    static outside_index multinomial(const T* logits, index_t rows, index_t classes, index_t draws,
                                     const random_stream& s, std::int64_t* to, void* scratch) {
        return draw_classes(logits, rows, classes, draws, s, to, static_cast<double*>(scratch));
    }
    static std::size_t multinomial_scratch(index_t classes) {
        return static_cast<std::size_t>(classes) * sizeof(double);
    }
};

}}} // namespace rill::RILL_ABI::RILL_ISA
