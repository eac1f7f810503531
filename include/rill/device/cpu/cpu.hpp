// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <rill/core/any_array.hpp>
#include <rill/core/thread_pool.hpp>
#include <rill/device/cpu/fusion/expression_kernel.hpp>
#include <rill/device/cpu/fusion/fused_kernel.hpp>
#include <rill/device/cpu/gemm/gemm.hpp>
#include <rill/device/cpu/linalg/matrices.hpp>
#include <rill/device/cpu/primitives/convolution.hpp>
#include <rill/device/cpu/primitives/first_refused.hpp>
#include <rill/device/cpu/primitives/indexing.hpp>
#include <rill/device/cpu/primitives/quantized.hpp>
#include <rill/device/cpu/primitives/rows.hpp>
#include <rill/device/cpu/primitives/scan.hpp>
#include <rill/device/cpu/primitives/strided_copy.hpp>
#include <rill/device/cpu/primitives/top_k.hpp>
#include <rill/device/cpu/primitives/update.hpp>
#include <rill/device/cpu/primitives/windows.hpp>
#include <rill/device/cpu/random/random.hpp>
#include <rill/device/cpu/random/random_gamma.hpp>
#include <rill/device/cpu/random/random_multinomial.hpp>
#include <rill/device/cpu/random/random_poisson.hpp>
#include <rill/device/cpu/random/random_shuffle.hpp>
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
    static kernel fused(const fusion_group& group, kernel_request& request) {
        return detail::fused_loops(group, request);
    }
    /// Binds a scalar loop. Only devices whose memory belongs to the host offer it.
    static kernel fused(const scalar_loop& loop, kernel_request& request) {
        return detail::scalar_loop_kernel(loop, request);
    }

    // ---- primitives ----------------------------------------------------------------------------------------------------------

    // Errors in data are thrown at once, unless the context has a record.

    /// Computes c = op(a) op(b), dense row-major, then applies the epilogue `last`. `ta` and `tb` transpose a and b.
    template <class T>
    static void gemm(const execution_context& on, bool ta, bool tb, index_t m, index_t n, index_t k, const T* a,
                     const T* b, T* c, const product_epilogue<T>& last = {}) {
        rill::gemm<T>(ta, tb, m, n, k, a, b, c, on.scratch, on.pool, last);
    }
    template <class T>
    static std::size_t gemm_scratch(const execution_context& on, bool ta, bool tb, index_t m, index_t n, index_t k) {
        return gemm_scratch_bytes<T>(ta, tb, m, n, k, on.pool ? on.pool->threads() : 1);
    }
    template <class T>
    static bool gemm_is_shared(const execution_context& on, bool ta, bool tb, index_t m, index_t n, index_t k) {
        return on.pool && detail::product_is_shared<T>({ta, tb, m, n, k}, on.pool->threads());
    }
    /// Computes a function of each matrix of a batch; see matrix_task.hpp. Refuses the first matrix that it can't compute, with a
    /// matrix_fault as the value. Absent operands and results are null.
    template <matrix_function F, class T>
    static void matrices(const execution_context& on, const matrix_task& t, const std::array<const T*, 2>& in,
                         const std::array<T*, 3>& out, const error_site& where) {
        detail::each_matrix<F>(on, t, in, out, where);
    }
    template <matrix_function F, class T>
    static std::size_t matrix_scratch(const execution_context& on, const matrix_task& t) {
        return static_cast<std::size_t>(detail::parts_of_batch(on.pool, t)) * detail::scratch_of_matrix<F, T>(t);
    }
    static bool matrices_are_shared(const execution_context& on, const matrix_task& t) {
        return detail::parts_of_batch(on.pool, t) > 1;
    }
    /// Convolves images [batch, in…, channels] with a filter [size…, channels, outputs]; see convolution.hpp.
    template <class T>
    static void convolve(const execution_context& on, const convolution_shape& s, const T* x, const T* f, T* y,
                         const product_epilogue<T>& last = {}) {
        rill::convolve<T>(s, x, f, y, on.scratch, on.pool, last);
    }
    template <class T>
    static void convolve_input(const execution_context& on, const convolution_shape& s, const T* f, const T* g, T* dx) {
        rill::convolve_input<T>(s, f, g, dx, on.scratch, on.pool);
    }
    template <class T>
    static void convolve_filter(const execution_context& on, const convolution_shape& s, const T* x, const T* g,
                                T* df) {
        rill::convolve_filter<T>(s, x, g, df, on.scratch, on.pool);
    }
    template <class T>
    static std::size_t convolution_scratch(const execution_context& on, convolution_part part,
                                           const convolution_shape& s) {
        return convolution_scratch_bytes<T>(part, s, on.pool ? on.pool->threads() : 1);
    }
    template <class T>
    static bool convolution_is_shared(const execution_context& on, convolution_part part, const convolution_shape& s) {
        return on.pool && convolution_uses_threads<T>(part, s, on.pool->threads());
    }
    /// Computes y = f.run(x, numbers, y) for each of n elements. Element types may differ from result types.
    template <class F, class X, class Y, std::size_t N>
    static void transform(const execution_context& on, index_t n, const F& f, const X* x,
                          const std::array<const float*, N>& numbers, Y* y) {
        transform_numbers(n, f, x, numbers, y, on.pool);
    }
    /// Convolves quantised images with a quantised filter; `ranges` holds the ends of both ranges.
    template <class Q>
    static void quantized_convolve(const execution_context& on, const convolution_shape& s, const Q* x, const Q* f,
                                   const std::array<const float*, 4>& ranges, qint32* y) {
        convolve_quantized(s, x, f, {*ranges[0], *ranges[1]}, {*ranges[2], *ranges[3]}, y, on.scratch, on.pool);
    }
    static std::size_t quantized_scratch(const convolution_shape& s) { return quantized_scratch_bytes(s); }
    /// Convolves each channel with its own filters [size…, channels, multiples]. Only the gradient by the filter needs scratch memory.
    template <class T>
    static void depthwise_convolve(const execution_context& on, const convolution_shape& s, const T* x, const T* f,
                                   T* y) {
        convolve_depthwise(s, x, f, y, on.pool);
    }
    template <class T>
    static void depthwise_convolve_input(const execution_context& on, const convolution_shape& s, const T* f,
                                         const T* g, T* dx) {
        convolve_input_depthwise(s, f, g, dx, on.pool);
    }
    template <class T>
    static void depthwise_convolve_filter(const execution_context& on, const convolution_shape& s, const T* x,
                                          const T* g, T* df) {
        convolve_filter_depthwise(s, x, g, df, on.scratch, on.pool);
    }
    template <class T> static std::size_t depthwise_scratch(const convolution_shape& s) {
        return depthwise_scratch_bytes<T>(s);
    }
    // Pools, and the patches under windows; see windows.hpp and convolution.hpp.

    template <class T>
    static void max_pool(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* y) {
        max_of_windows(w, channels, x, y, on.pool);
    }
    template <class T>
    static void max_pool_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* x,
                                  const T* y, const T* g, T* dx) {
        max_of_windows_gradient(w, channels, x, y, g, dx, on.pool);
    }
    template <class T>
    static void max_pool_gather(const execution_context& on, const window_shape& w, index_t channels, const T* x,
                                const T* y, const T* from, T* to) {
        gather_largest(w, channels, x, y, from, to, on.pool);
    }
    template <class T>
    static void average_pool(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* y) {
        mean_of_windows(w, channels, x, y, on.pool);
    }
    template <class T>
    static void average_pool_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* g,
                                      T* dx) {
        mean_of_windows_gradient(w, channels, g, dx, on.pool);
    }
    template <class T>
    static void image_patches(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* to) {
        patches_of_windows(w, channels, x, to, on.pool);
    }
    template <class T>
    static void image_patches_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* g,
                                       T* dx) {
        patches_of_windows_gradient(w, channels, g, dx, on.pool);
    }
    /// Computes to = f(from), for small arrays of numbers. `f` maps arrays of double; the results are rounded to T.
    template <class F, class T, std::size_t N>
    static void compute_scalars(const execution_context&, const F& f, const std::array<const T*, N>& from, T* to) {
        std::array<double, N> in{};
        for (std::size_t i = 0; i < N; ++i) in[i] = static_cast<double>(*from[i]);
        for (const double x : f(in)) *to++ = detail::convert<T>(x);
    }
    /// Computes new values of the arrays `was` from these, the arrays `in` and some constants, and writes them to `state`. A new array lies
    /// in the place of its old one, or does not overlap it.
    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(const execution_context& on, index_t n, const std::array<const T*, S>& was,
                       const std::array<T*, S>& state, const std::array<const T*, I>& in,
                       const update_constants<T, C>& constants) {
        update_arrays<F>(n, was, state, in, constants, on.pool);
    }
    /// Applies the update to slices: slice ids[k] of each state, with slice k of the inputs. Only `added` needs scratch memory.
    template <class F, class T, class I, std::size_t S, std::size_t N, std::size_t C>
    static void update_rows(const execution_context& on, const I* ids, index_t count, index_t inner,
                            const std::array<T*, S>& state, const std::array<const T*, N>& in,
                            const update_constants<T, C>& constants, equal_ids how) {
        update_array_rows<F>(ids, count, inner, state, in, constants, how == equal_ids::added ? on.scratch : nullptr);
    }
    template <class T> static std::size_t update_rows_scratch(index_t count, index_t inner, int inputs) {
        return update_rows_scratch_bytes<T>(count, inner, inputs);
    }
    /// Copies one layout into another; implements transpose, concat, slice and tile.
    template <class T>
    static void copy(const execution_context&, const T* from, T* to, const detail::strided_layout& l) {
        detail::strided_copy(from, to, l, 0);
    }
    /// Adds one layout to another. Each element of the destination must have its own address.
    template <class T>
    static void add(const execution_context&, const T* from, T* to, const detail::strided_layout& l) {
        detail::strided_add(from, to, l, 0);
    }
    /// Copies n elements of type `of`.
    static void copy(const execution_context&, dtype of, const void* from, void* to, index_t n) {
        detail::copy_elements(of, from, to, n);
    }
    template <class T> static void fill(const execution_context&, index_t n, T* to, const T& value) {
        std::fill_n(to, n, value);
    }

    /// Refuses the first element that `accepts` returns false for.
    template <class T, class Accepts>
    static void check(const execution_context& on, const T* x, index_t n, const Accepts& accepts,
                      const error_site& where) {
        if (const index_t at = first_refused(x, n, accepts); at >= 0) on.refuse(where, refused_element::of(at, x[at]));
    }
    /// Returns true if all elements are finite and the host can know this without waiting. An op may then skip work that matters only for
    /// non-finite elements; skipping must not change a finite result.
    template <class T> static bool known_finite(const T* x, index_t n) {
        return first_refused(x, n, finite_number{}) < 0;
    }
    // The index primitives treat arrays as [outer, extent, inner]; see indexing.hpp. Ids must have been checked.

    template <class T, class I>
    static void gather(const execution_context&, const T* table, const I* ids, T* to, index_t outer, index_t extent,
                       index_t inner, index_t count) {
        gather_slices(table, ids, to, outer, extent, inner, count);
    }
    template <class T, class I>
    static void scatter_add(const execution_context&, const T* from, const I* ids, T* to, index_t outer, index_t extent,
                            index_t inner, index_t count) {
        scatter_add_slices(from, ids, to, outer, extent, inner, count);
    }
    template <class T, class I>
    static void one_hot(const execution_context&, const I* ids, T* to, index_t outer, index_t depth, index_t inner,
                        T on, T off) {
        one_hot_rows(ids, to, outer, depth, inner, on, off);
    }
    /// Converts rows of indices, one per axis of `shape`, to positions in row-major order. Refuses the first index outside its axis, with
    /// its position among all indices.
    template <class I>
    static void flat_indices(const execution_context& on, const I* ids, std::int64_t* to, index_t count,
                             const dims& shape, const error_site& where) {
        if (const index_t at = flatten_indices(ids, to, count, shape); at >= 0)
            on.refuse(where, refused_element::of(at, ids[at]));
    }
    /// Gathers slices by rows of indices, one per axis of `shape`. Refuses the first index outside its axis, as flat_indices does.
    template <class T, class I>
    static void gather_rows(const execution_context& on, const T* table, const I* ids, T* to, index_t count,
                            const dims& shape, index_t inner, const error_site& where) {
        if (const index_t at = rill::gather_rows(table, ids, to, count, shape, inner); at >= 0)
            on.refuse(where, refused_element::of(at, ids[at]));
    }
    static std::size_t gather_rows_scratch(index_t) { return 0; }
    /// Combines slices by segment; see indexing.hpp. Refuses the first id that is not below `segments`. Only extremes need scratch memory.
    template <combine How, class T, class I>
    static void combine_segments(const execution_context& on, const T* x, const I* ids, T* to, index_t count,
                                 index_t segments, index_t inner, T empty, const error_site& where) {
        const index_t at = combine_slices<combine_rule<How>>(x, ids, to, count, segments, inner, empty,
                                                             static_cast<std::uint8_t*>(on.scratch));
        if (at >= 0) on.refuse(where, refused_element::of(at, ids[at]));
    }
    template <combine How> static std::size_t combine_segments_scratch(index_t segments) {
        return How == combine::max || How == combine::min ? static_cast<std::size_t>(segments) : 0;
    }
    /// Gathers the slices of segments, or zeros for negative ids.
    template <class T, class I>
    static void gather_segments(const execution_context&, const T* x, const I* ids, T* to, index_t inner,
                                index_t count) {
        gather_segment_slices(x, ids, to, inner, count);
    }
    /// Writes the index along `extent` of the largest (or smallest) element.
    template <bool Largest, class T, class Out>
    static void arg_extreme(const execution_context&, const T* x, Out* to, index_t outer, index_t extent,
                            index_t inner) {
        rill::arg_extreme<std::conditional_t<Largest, max_combine, min_combine>>(x, to, outer, extent, inner);
    }
    /// Writes the k largest elements of each row in descending order, and their indices; see top_k.hpp.
    template <class T>
    static void top_k(const execution_context&, const T* x, T* values, std::int32_t* ids, index_t rows, index_t columns,
                      index_t k) {
        largest_of_rows(x, values, ids, rows, columns, k);
    }
    static std::size_t top_k_scratch(index_t) { return 0; }
    /// Computes running sums or products along `extent`; see scan.hpp.
    template <combine How, class T>
    static void scan(const execution_context&, const T* x, T* to, index_t outer, index_t extent, index_t inner,
                     bool exclusive, bool reverse) {
        running_values<How>(x, to, outer, extent, inner, exclusive, reverse);
    }
    /// Computes a linear recurrence along `extent`: each element is a factor times the previous one, plus a term; see scan.hpp.
    template <class T>
    static void linear_recurrence(const execution_context&, const T* factors, const T* terms, T* to, index_t outer,
                                  index_t extent, index_t inner, bool reverse) {
        rill::linear_recurrence(factors, terms, to, outer, extent, inner, reverse);
    }

    /// Returns the scratch bytes of `rows`, which calls f(layout, in, out, row numbers) for the rows of matrices; see rows.hpp.
    /// Only narrow types (half, bfloat16) need scratch memory.
    template <class T> static std::size_t row_scratch(index_t columns, int arrays) {
        return row_scratch_bytes<T>(columns, arrays);
    }
    template <class T, class I, std::size_t In, std::size_t Out, class F>
    static void rows(const execution_context& on, index_t count, index_t columns, const std::array<const T*, In>& in,
                     const std::array<T*, Out>& out, const row_numbers<T, I>& numbers, const F& f) {
        detail::over_rows<T, In, Out>(count, columns, in, out, numbers, on.scratch, f);
    }

    /// Fills n elements with uniform random numbers. Element i depends only on the stream and i; see random.hpp.
    template <class T>
    static void random_uniform(const execution_context&, index_t n, const random_stream* s, double from, double end,
                               T* to) {
        fill_uniform(n, *s, from, end, to);
    }
    template <class T>
    static void random_normal(const execution_context&, index_t n, const random_stream* s, double mean,
                              double deviation, T* to) {
        fill_normal(n, *s, mean, deviation, to);
    }
    template <class T>
    static void truncated_normal(const execution_context&, index_t n, const random_stream* s, double mean,
                                 double deviation, T* to) {
        fill_truncated_normal(n, *s, mean, deviation, to);
    }
    template <class T>
    static void random_gamma(const execution_context&, index_t n, const random_stream* s, double shape, double rate,
                             T* to) {
        fill_gamma(n, *s, shape, rate, to);
    }
    template <class T>
    static void random_poisson(const execution_context&, index_t n, const random_stream* s, double rate, T* to) {
        fill_poisson(n, *s, rate, to);
    }
    /// Draws classes from rows of logits; see random_multinomial.hpp. Refuses the first row without a class to draw, with its row number.
    /// The value is NaN if the row contains a NaN, else -inf.
    template <class T>
    static void multinomial(const execution_context& on, const T* logits, index_t rows, index_t classes, index_t draws,
                            const random_stream* s, std::int64_t* to, const error_site& where) {
        const auto found = draw_classes(logits, rows, classes, draws, *s, to, static_cast<double*>(on.scratch));
        if (found.at >= 0) on.refuse(where, found);
    }
    static std::size_t multinomial_scratch(index_t classes) {
        return static_cast<std::size_t>(classes) * sizeof(double);
    }
    /// Copies rows of `inner` elements of type `of` in a random order; see random_shuffle.hpp.
    static void shuffle(const execution_context& on, dtype of, const void* from, void* to, index_t rows, index_t inner,
                        const random_stream* s) {
        shuffle_rows(of, from, to, rows, inner, *s, static_cast<index_t*>(on.scratch));
    }
    static std::size_t shuffle_scratch(index_t rows) { return static_cast<std::size_t>(rows) * sizeof(index_t); }
};

}}} // namespace rill::RILL_ABI::RILL_ISA
