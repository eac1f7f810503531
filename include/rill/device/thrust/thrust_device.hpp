// SPDX-License-Identifier: BSD-3-Clause
// size: the primitives of a device are one struct
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <rill/device/cpu/fusion/fused_kernel.hpp>
#include <rill/device/cpu/linalg/matrices.hpp>
#include <rill/device/primitives.hpp>
#include <rill/device/thrust/kernel_starter.hpp>
#include <rill/device/thrust/layouts.hpp>
#include <rill/device/thrust/library_convolution.hpp>
#include <rill/device/thrust/lines.hpp>
#include <rill/device/thrust/products.hpp>
#include <rill/device/thrust/randoms.hpp>
#include <rill/device/thrust/reduction.hpp>
#include <rill/device/thrust/updates.hpp>
#include <rill/device/thrust/window_kernels.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// The primitives on Thrust, from one source for CPU and GPU. `Backend` names the system: where blocks lie, how kernels start, how errors
/// in data are noted (host_backend.hpp, device/cuda/cuda_backend.hpp). A device derives from this and adds its name:
///
///     struct gpu : thrust_device<gpu, cuda_backend> {
///         static constexpr std::string_view type = "gpu";
///     };
///
/// Each kernel computes its elements in a fixed order that depends on shapes alone.
template <class Device, class Backend> struct thrust_device : private detail::kernel_starter<Device, Backend> {
    /// Wraps an op's kernel so that it runs on the instance with the memory of the request.
    static kernel on_instance(kernel inner, const kernel_request& request) {
        return B::on_instance(std::move(inner), request);
    }

    // ---- elementwise loops -------------------------------------------------------------------------------------------------

    template <class S> static void compile_expression() {
        if constexpr (detail::takes_structure<B, S>)
            starter::template register_once<&detail::register_launches<B, S>>();
    }
    template <class S> static void compile_one_op() {
        if constexpr (detail::takes_structure<B, S>) starter::template register_once<&detail::register_forward<B, S>>();
    }
    template <combine How, class T> static void compile_reducer() {
        if constexpr (B::template takes<T>) starter::template register_once<&detail::register_reduction<B, How, T>>();
    }
    static kernel fused(const fused_spec& spec, kernel_request& request) {
        return starter::bind_launches(detail::alone(spec, request), request);
    }
    static kernel fused(const fusion_group& group, kernel_request& request) {
        return starter::bind_launches(group, request);
    }

    // ---- products ----------------------------------------------------------------------------------------------------------

    template <class T>
    static void gemm(const execution_context& on, bool ta, bool tb, index_t m, index_t n, index_t k, const T* a,
                     const T* b, T* c, const product_epilogue<T>& last = {}) {
        const detail::product_arguments<T> all{ta, tb, m, n, k, at(a), at(b), at(c), at(last)};
        if (m > 0 && n > 0 && k > 0 && B::multiply(on, all)) return;
        const detail::product_tile<T> tile{all};
        starter::template start<T>(on, tile.tiles(), [&] { return tile; });
    }
    template <class T>
    static std::size_t gemm_scratch(const execution_context&, bool, bool, index_t, index_t, index_t) {
        return 0;
    }
    template <class T> static bool gemm_is_shared(const execution_context&, bool, bool, index_t, index_t, index_t) {
        return false;
    }

    // ---- functions of matrices ---------------------------------------------------------------------------------------------

    /// True if the device has a kernel of an op for elements of T. T is void for an op with one kernel for all types.
    template <class Op, class T>
    static constexpr bool has_kernel = (std::is_void_v<T> || Backend::template takes<T>) &&
                                       (Backend::runs_on_host || !requires { Op::is_matrix_function; });

    /// Computes matrix functions by the CPU's algorithms, on host threads. Devices with their own memory have none yet.
    template <matrix_function F, class T>
    static void matrices(const execution_context& on, const matrix_task& t, const std::array<const T*, 2>& in,
                         const std::array<T*, 3>& out, const error_site& where) {
        if constexpr (B::runs_on_host) {
            if (const auto here = B::enter(on))
                B::run(*here, [t, in = at(in), out = at(out), where = &where](const execution_context& c) {
                    detail::each_matrix<F>(c, t, in, out, *where);
                });
        } else {
            throw unimplemented("device '" + std::string(Device::type) + "' has no kernels for functions of matrices");
        }
    }
    template <matrix_function F, class T>
    static std::size_t matrix_scratch(const execution_context& on, const matrix_task& t) {
        return static_cast<std::size_t>(detail::parts_of_batch(on.pool, t)) * detail::scratch_of_matrix<F, T>(t);
    }
    static bool matrices_are_shared(const execution_context& on, const matrix_task& t) {
        return detail::parts_of_batch(on.pool, t) > 1;
    }

    // ---- convolutions and pools --------------------------------------------------------------------------------------------

    template <class T>
    static void convolve(const execution_context& on, const convolution_shape& s, const T* x, const T* f, T* y,
                         const product_epilogue<T>& last = {}) {
        const index_t n = windows(s.window) * s.out;
        if (!library::run(on, convolution_part::forward, s, x, f, y)) {
            starter::template start<T>(
                on, n, [&] { return detail::convolution_element<T>{s, at(x), at(f), at(y), {at(last)}}; });
        } else if (!last.empty()) {
            starter::template start<T>(on, n, [&] { return detail::finish_columns<T>{s.out, {at(last)}, at(y)}; });
        }
    }
    template <class T>
    static void convolve_input(const execution_context& on, const convolution_shape& s, const T* f, const T* g, T* dx) {
        if (library::run(on, convolution_part::input, s, f, g, dx)) return;
        starter::template start<T>(on, pixels(s.window) * s.in,
                                   [&] { return detail::convolution_input_element<T>{s, at(f), at(g), at(dx)}; });
    }
    template <class T>
    static void convolve_filter(const execution_context& on, const convolution_shape& s, const T* x, const T* g,
                                T* df) {
        if (library::run(on, convolution_part::filter, s, x, g, df)) return;
        starter::template start<T>(on, s.window.positions() * s.in * s.out,
                                   [&] { return detail::convolution_filter_element<T>{s, at(x), at(g), at(df)}; });
    }
    template <class T>
    static std::size_t convolution_scratch(const execution_context&, convolution_part, const convolution_shape& s) {
        return library::template scratch<T>(s);
    }
    template <class T>
    static bool convolution_is_shared(const execution_context&, convolution_part, const convolution_shape&) {
        return false;
    }
    template <class T>
    static void depthwise_convolve(const execution_context& on, const convolution_shape& s, const T* x, const T* f,
                                   T* y) {
        starter::template start<T>(on, windows(s.window) * s.in * s.out,
                                   [&] { return detail::depthwise_element<T>{s, at(x), at(f), at(y)}; });
    }
    template <class T>
    static void depthwise_convolve_input(const execution_context& on, const convolution_shape& s, const T* f,
                                         const T* g, T* dx) {
        starter::template start<T>(on, pixels(s.window) * s.in,
                                   [&] { return detail::depthwise_input_element<T>{s, at(f), at(g), at(dx)}; });
    }
    template <class T>
    static void depthwise_convolve_filter(const execution_context& on, const convolution_shape& s, const T* x,
                                          const T* g, T* df) {
        starter::template start<T>(on, s.window.positions() * s.in * s.out,
                                   [&] { return detail::depthwise_filter_element<T>{s, at(x), at(g), at(df)}; });
    }
    template <class T> static std::size_t depthwise_scratch(const convolution_shape&) { return 0; }
    template <class Q>
    static void quantized_convolve(const execution_context& on, const convolution_shape& s, const Q* x, const Q* f,
                                   const std::array<const float*, 4>& ranges, qint32* y) {
        starter::template start<Q>(on, windows(s.window) * s.out, [&] {
            return detail::quantized_convolution_element<Q>{s, at(x), at(f), at(ranges), at(y)};
        });
    }
    static std::size_t quantized_scratch(const convolution_shape&) { return 0; }
    template <class T>
    static void max_pool(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* y) {
        starter::template start<T>(on, windows(w) * channels,
                                   [&] { return detail::max_pool_element<T>{w, channels, at(x), at(y)}; });
    }
    template <class T>
    static void max_pool_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* x,
                                  const T* y, const T* g, T* dx) {
        starter::template start<T>(on, pixels(w) * channels, [&] {
            return detail::max_pool_gradient_element<T>{w, channels, at(x), at(y), at(g), at(dx)};
        });
    }
    template <class T>
    static void max_pool_gather(const execution_context& on, const window_shape& w, index_t channels, const T* x,
                                const T* y, const T* from, T* to) {
        starter::template start<T>(on, windows(w) * channels, [&] {
            return detail::max_pool_gather_element<T>{w, channels, at(x), at(y), at(from), at(to)};
        });
    }
    template <class T>
    static void average_pool(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* y) {
        starter::template start<T>(on, windows(w) * channels,
                                   [&] { return detail::average_pool_element<T>{w, channels, at(x), at(y)}; });
    }
    template <class T>
    static void average_pool_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* g,
                                      T* dx) {
        starter::template start<T>(on, pixels(w) * channels, [&] {
            return detail::average_pool_gradient_element<T>{w, channels, at(g), at(dx)};
        });
    }
    template <class T>
    static void image_patches(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* to) {
        starter::template start<T>(on, windows(w) * w.positions() * channels,
                                   [&] { return detail::patch_element<T>{w, channels, at(x), at(to)}; });
    }
    template <class T>
    static void image_patches_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* g,
                                       T* dx) {
        starter::template start<T>(on, pixels(w) * channels,
                                   [&] { return detail::patch_gradient_element<T>{w, channels, at(g), at(dx)}; });
    }

    // ---- layouts and indices -----------------------------------------------------------------------------------------------

    template <class T>
    static void copy(const execution_context& on, const T* from, T* to, const detail::strided_layout& l) {
        const auto space = detail::space_of(l);
        starter::template start<T>(on, space.total,
                                   [&] { return detail::copy_layout<T>{space, l.from, l.to, at(from), at(to)}; });
    }
    template <class T>
    static void add(const execution_context& on, const T* from, T* to, const detail::strided_layout& l) {
        const auto space = detail::space_of(l);
        starter::template start<T>(on, space.total,
                                   [&] { return detail::add_layout<T>{space, l.from, l.to, at(from), at(to)}; });
    }
    static void copy(const execution_context& on, dtype of, const void* from, void* to, index_t n) {
        with_elements(of, [&]<class E>(std::type_identity<E>) {
            starter::template start<E>(on, n, [&] {
                return detail::copy_element<E>{at(static_cast<const E*>(from)), at(static_cast<E*>(to))};
            });
        });
    }
    template <class T> static void fill(const execution_context& on, index_t n, T* to, const T& value) {
        starter::template start<T>(on, n, [&] { return detail::fill_element<T>{value, at(to)}; });
    }
    template <class T, class Accepts>
    static void check(const execution_context& on, const T* x, index_t n, const Accepts& accepts,
                      const error_site& where) {
        if constexpr (B::template takes<T>) {
            if (const auto here = B::enter(on); here && n > 0)
                B::refuse_first(*here, n, detail::find_refused<T, Accepts>{at(x), accepts}, where);
        } else {
            starter::template refuse_type<T>();
        }
    }
    /// Returns true only for empty arrays: the host may be unable to read the elements.
    template <class T> static bool known_finite(const T*, index_t n) { return n == 0; }
    template <class T, class I>
    static void gather(const execution_context& on, const T* table, const I* ids, T* to, index_t outer, index_t extent,
                       index_t inner, index_t count) {
        starter::template start<T>(on, outer * count * inner, [&] {
            return detail::gather_element<T, I>{at(table), at(ids), at(to), extent, inner, count};
        });
    }
    template <class T, class I>
    static void scatter_add(const execution_context& on, const T* from, const I* ids, T* to, index_t outer,
                            index_t extent, index_t inner, index_t count) {
        starter::template start<T>(on, outer * inner, [&] {
            return detail::scatter_add_line<T, I>{at(from), at(ids), at(to), extent, inner, count};
        });
    }
    template <class T, class I>
    static void one_hot(const execution_context& context, const I* ids, T* to, index_t outer, index_t depth,
                        index_t inner, T on, T off) {
        starter::template start<T>(context, outer * depth * inner, [&] {
            return detail::one_hot_element<T, I>{at(ids), at(to), depth, inner, on, off};
        });
    }
    template <class I>
    static void flat_indices(const execution_context& on, const I* ids, std::int64_t* to, index_t count,
                             const dims& shape, const error_site& where) {
        if (const auto here = B::enter(on); here && count * shape.rank > 0)
            B::refuse_first(*here, count * shape.rank, detail::find_outside<I>{at(ids), shape}, where);
        starter::template start<I>(on, count, [&] { return detail::flat_index<I>{at(ids), at(to), shape}; });
    }
    template <class T, class I>
    static void gather_rows(const execution_context& on, const T* table, const I* ids, T* to, index_t count,
                            const dims& shape, index_t inner, const error_site& where) {
        auto* const flat = static_cast<std::int64_t*>(on.scratch);
        flat_indices(on, ids, flat, count, shape, where);
        gather(on, table, flat, to, 1, shape.size(), inner, count);
    }
    static std::size_t gather_rows_scratch(index_t count) {
        return static_cast<std::size_t>(count) * sizeof(std::int64_t);
    }
    template <combine How, class T, class I>
    static void combine_segments(const execution_context& on, const T* x, const I* ids, T* to, index_t count,
                                 index_t segments, index_t inner, T empty, const error_site& where) {
        check(on, ids, count, index_below<I>(segments), where);
        index_t* first = nullptr;
        if constexpr (is_extreme<How>) {
            first = static_cast<index_t*>(on.scratch);
            starter::template start<>(on, count > 0 ? 1 : 0,
                                      [&] { return detail::find_first_slices<I>{at(ids), at(first), count}; });
        }
        starter::template start<T>(on, segments > 0 ? inner : 0, [&] {
            return detail::combine_column<combine_rule<How>, T, I>{at(x), at(ids),  at(to), first ? at(first) : nullptr,
                                                                   count, segments, inner,  empty};
        });
    }
    template <combine How> static std::size_t combine_segments_scratch(index_t segments) {
        return is_extreme<How> ? slice_bytes(segments) : 0;
    }
    template <class T, class I>
    static void gather_segments(const execution_context& on, const T* x, const I* ids, T* to, index_t inner,
                                index_t count) {
        starter::template start<T>(on, count * inner,
                                   [&] { return detail::gather_segment_element<T, I>{at(x), at(ids), at(to), inner}; });
    }
    template <bool Largest, class T, class Out>
    static void arg_extreme(const execution_context& on, const T* x, Out* to, index_t outer, index_t extent,
                            index_t inner) {
        using rule = std::conditional_t<Largest, max_combine, min_combine>;
        starter::template start<T>(
            on, outer * inner, [&] { return detail::arg_extreme_line<rule, T, Out>{at(x), at(to), extent, inner}; });
    }

    // ---- lines -------------------------------------------------------------------------------------------------------------

    /// Finds the largest elements of rows. Short rows are ranked, all at once; long ones are sorted one after another.
    template <class T>
    static void top_k(const execution_context& on, const T* x, T* values, std::int32_t* ids, index_t rows,
                      index_t columns, index_t k) {
        if (columns <= ranked_columns)
            return starter::template start<T>(on, k > 0 ? rows * columns : 0, [&] {
                return detail::rank_element<T>{at(x), at(values), at(ids), columns, k};
            });
        auto* const order = static_cast<std::int32_t*>(on.scratch);
        auto* const memory = static_cast<std::byte*>(on.scratch) + order_bytes(columns);
        for (index_t row = 0; row < rows; ++row, x += columns, values += k, ids += k) {
            starter::template start<>(on, columns, [&] { return detail::count_element{at(order)}; });
            sort(on, order, columns, memory, [&] { return detail::larger_first<T>{at(x)}; });
            starter::template start<T>(
                on, k, [&] { return detail::ordered_element<T>{at(x), at(order), at(values), at(ids)}; });
        }
    }
    static std::size_t top_k_scratch(index_t columns) {
        return columns <= ranked_columns ? 0 : order_bytes(columns) + B::sort_scratch(columns, sizeof(std::int32_t));
    }
    template <combine How, class T>
    static void scan(const execution_context& on, const T* x, T* to, index_t outer, index_t extent, index_t inner,
                     bool exclusive, bool reverse) {
        starter::template start<T>(on, outer * inner, [&] {
            return detail::running_line<How, T>{at(x), at(to), extent, inner, exclusive, reverse};
        });
    }
    template <class T>
    static void linear_recurrence(const execution_context& on, const T* factors, const T* terms, T* to, index_t outer,
                                  index_t extent, index_t inner, bool reverse) {
        starter::template start<T>(on, outer * inner, [&] {
            return detail::recurrence_line<T>{at(factors), at(terms), at(to), extent, inner, reverse};
        });
    }
    template <class T> static std::size_t row_scratch(index_t columns, int arrays) {
        return row_scratch_bytes<T>(columns, arrays);
    }
    template <class T, class I, std::size_t In, std::size_t Out, class F>
    static void rows(const execution_context& on, index_t count, index_t columns, const std::array<const T*, In>& in,
                     const std::array<T*, Out>& out, const row_numbers<T, I>& numbers, const F& f) {
        if (columns == 0 && !numbers.written) return; // without columns, only row numbers can be written
        using function = detail::row_function<T, I, In, Out, F>;
        auto* const wide = static_cast<typename function::C*>(function::widens ? on.scratch : nullptr);
        if constexpr (B::template takes<T>) {
            if (const auto here = B::enter(on); here && count > 0)
                B::each_row(*here, function::widens ? 1 : count,
                            function{count, columns, at(in), at(out), at(numbers), f, at(wide)});
        } else {
            starter::template refuse_type<T>();
        }
    }
    template <class F, class X, class Y, std::size_t N>
    static void transform(const execution_context& on, index_t n, const F& f, const X* x,
                          const std::array<const float*, N>& numbers, Y* y) {
        starter::template start<X, Y>(
            on, n, [&] { return detail::transform_element<F, X, Y, N>{f, at(x), at(numbers), at(y)}; });
    }
    template <class F, class T, std::size_t N>
    static void compute_scalars(const execution_context& on, const F& f, const std::array<const T*, N>& from, T* to) {
        starter::template start<T>(on, 1, [&] { return detail::scalar_function<F, T, N>{f, at(from), at(to)}; });
    }

    // ---- updates -----------------------------------------------------------------------------------------------------------

    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(const execution_context& on, index_t n, const std::array<const T*, S>& was,
                       const std::array<T*, S>& state, const std::array<const T*, I>& in,
                       const update_constants<T, C>& constants) {
        starter::template start<T>(on, n, [&] {
            return detail::update_element<F, T, S, I, C>{{at(was), at(state), at(in), at(constants.at)}};
        });
    }
    template <class F, class T, class I, std::size_t S, std::size_t N, std::size_t C>
    static void update_rows(const execution_context& on, const I* ids, index_t count, index_t inner,
                            const std::array<T*, S>& state, const std::array<const T*, N>& in,
                            const update_constants<T, C>& constants, equal_ids how) {
        const auto arrays = [&] {
            std::array<const T*, S> was;
            for (std::size_t s = 0; s < S; ++s) was[s] = at(state[s]);
            return detail::update_arrays_of<F, T, S, N, C>{was, at(state), at(in), at(constants.at)};
        };
        if constexpr (is_numeric<T>) // types without addition never add
            if (how == equal_ids::added) {
                auto* const order = static_cast<index_t*>(on.scratch);
                starter::template start<>(on, count, [&] { return detail::count_slices{at(order)}; });
                sort(on, order, count, static_cast<std::byte*>(on.scratch) + slice_bytes(count),
                     [&] { return detail::lower_id<I>{at(ids)}; });
                return starter::template start<T>(on, count * inner, [&] {
                    return detail::update_run<F, T, I, S, N, C>{arrays(), at(ids), at(order), count, inner};
                });
            }
        starter::template start<T>(
            on, inner, [&] { return detail::update_column<F, T, I, S, N, C>{arrays(), at(ids), count, inner}; });
    }
    template <class T> static std::size_t update_rows_scratch(index_t count, index_t, int) {
        return slice_bytes(count) + B::sort_scratch(count, sizeof(index_t));
    }

    // ---- random numbers ----------------------------------------------------------------------------------------------------

    template <class T>
    static void random_uniform(const execution_context& on, index_t n, const random_stream* s, double from, double end,
                               T* to) {
        starter::template start<T>(on, n, [&] { return detail::uniform_element<T>{at(s), from, end, at(to)}; });
    }
    template <class T>
    static void random_normal(const execution_context& on, index_t n, const random_stream* s, double mean,
                              double deviation, T* to) {
        starter::template start<T>(on, n,
                                   [&] { return detail::normal_element<T, false>{at(s), mean, deviation, at(to)}; });
    }
    template <class T>
    static void truncated_normal(const execution_context& on, index_t n, const random_stream* s, double mean,
                                 double deviation, T* to) {
        starter::template start<T>(on, n,
                                   [&] { return detail::normal_element<T, true>{at(s), mean, deviation, at(to)}; });
    }
    template <class T>
    static void random_gamma(const execution_context& on, index_t n, const random_stream* s, double shape, double rate,
                             T* to) {
        starter::template start<T>(on, n, [&] { return detail::gamma_element<T>{at(s), shape, rate, at(to)}; });
    }
    template <class T>
    static void random_poisson(const execution_context& on, index_t n, const random_stream* s, double rate, T* to) {
        starter::template start<T>(on, n, [&] { return detail::poisson_element<T>{at(s), rate, at(to)}; });
    }
    template <class T>
    static void multinomial(const execution_context& on, const T* logits, index_t rows, index_t classes, index_t draws,
                            const random_stream* s, std::int64_t* to, const error_site& where) {
        if (draws == 0 || rows == 0) return;
        if (const auto here = B::enter(on))
            B::refuse_first(*here, rows, detail::find_empty_row<T>{at(logits), classes}, where);
        starter::template start<T>(on, rows * draws,
                                   [&] { return detail::draw_class<T>{at(logits), classes, draws, at(s), at(to)}; });
    }
    static std::size_t multinomial_scratch(index_t) { return 0; }
    static void shuffle(const execution_context& on, dtype of, const void* from, void* to, index_t rows, index_t inner,
                        const random_stream* s) {
        auto* const places = static_cast<index_t*>(on.scratch);
        starter::template start<>(on, rows > 0 ? 1 : 0, [&] { return detail::shuffle_order{rows, at(s), at(places)}; });
        with_elements(of, [&]<class E>(std::type_identity<E>) {
            starter::template start<E>(on, rows * inner, [&] {
                return detail::copy_row_element<E>{at(static_cast<const E*>(from)), at(places), inner,
                                                   at(static_cast<E*>(to))};
            });
        });
    }
    static std::size_t shuffle_scratch(index_t rows) { return slice_bytes(rows); }

private:
    using starter = detail::kernel_starter<Device, Backend>;
    using library = detail::library_convolution<thrust_device, Backend>;
    using B = Backend;
    using starter::at, starter::with_elements, starter::sort;

    static constexpr index_t ranked_columns = 2048;
    template <combine How> static constexpr bool is_extreme = How == combine::max || How == combine::min;

    static index_t windows(const window_shape& w) { return w.batch * w.windows(); }
    static index_t pixels(const window_shape& w) { return w.batch * w.pixels(); }
    static std::size_t slice_bytes(index_t count) {
        return detail::aligned_size(static_cast<std::size_t>(count) * sizeof(index_t));
    }
    static std::size_t order_bytes(index_t columns) {
        return detail::aligned_size(static_cast<std::size_t>(columns) * sizeof(std::int32_t));
    }
};

}}} // namespace rill::RILL_ABI::RILL_ISA
