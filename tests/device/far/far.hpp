// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A device for tests: it computes as the CPU does, in memory that the host can't read (memory.hpp). A session placed on it
// proves that nothing outside device/ follows a tensor's address, and that what kernels capture is no such address. There are two
// instances, far:0 and far:1, with two memories: a kernel of one that is given an address of the other fails. Copies end late, in
// an order drawn from a seed; before a kernel, those of its device have ended: who does not wait for a copy fails. Numbers of a run
// lie in those memories too: learning rates, constants of updates, random streams. Errors in data are recorded there, and the
// host reads the records at the end of a run. Programs name this header as RILL_MORE_DEVICES.

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <rill/device/cpu/cpu.hpp>
#include <rill/device/device.hpp>

#include "addresses.hpp"

namespace test_far {

/// A kernel of the CPU's, run on the same operands where they can be read.
inline rill::kernel translated(rill::kernel inner, const rill::kernel_request& request) {
    const std::size_t in = request.inputs.size(), out = request.outputs.size();
    std::vector<std::int32_t> numbers(in + out);
    std::iota(numbers.begin(), numbers.end(), 0);
    return rill::kernel([inner = std::move(inner), in, out, numbers = std::move(numbers),
                         of = request.space](const rill::kernel_args& a) {
        const selected instance(of);
        const auto on = here(a.on);
        if (!on) return;
        std::vector<void*> slots(in + out);
        if (of && all_clocks().is_on()) {
            std::vector<const void*> reads, writes;
            for (std::size_t i = 0; i < in; ++i) reads.push_back(a.slots[a.inputs[i]]);
            for (std::size_t i = 0; i < out; ++i) writes.push_back(a.slots[a.outputs[i]]);
            all_clocks().ran(space::memory_of(*of).instance(), reads, writes, 0);
        }
        for (std::size_t i = 0; i < in; ++i) slots[i] = here(a.slots[a.inputs[i]]);
        for (std::size_t i = 0; i < out; ++i) slots[in + i] = here(a.slots[a.outputs[i]]);
        inner({slots.data(), numbers.data(), numbers.data() + in, *on, a.step});
    });
}

} // namespace test_far

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// The device as kernels see it: the CPU's primitives, given the addresses that can be read.
struct far {
    static constexpr std::string_view type = "far";

private:
    template <class X> static auto at(const X& x) { return test_far::here(x); }

public:
    /// Wraps a kernel of an op: it runs on the instance with the memory of the request.
    static kernel on_instance(kernel inner, const kernel_request& request) {
        return kernel([inner = std::move(inner), space = request.space](const kernel_args& a) {
            const test_far::selected instance(space);
            inner(a);
        });
    }
    template <class S> static void compile_expression() { cpu::compile_expression<S>(); }
    template <class S> static void compile_one_op() { cpu::compile_one_op<S>(); }
    template <combine How, class T> static void compile_reducer() { cpu::compile_reducer<How, T>(); }
    static kernel fused(const fused_spec& spec, kernel_request& request) {
        return test_far::translated(cpu::fused(spec, request), request);
    }
    static kernel fused(const fusion_group& group, kernel_request& request) {
        return test_far::translated(cpu::fused(group, request), request);
    }

    template <class T>
    static void gemm(const execution_context& on, bool ta, bool tb, index_t m, index_t n, index_t k, const T* a,
                     const T* b, T* c, const product_epilogue<T>& last = {}) {
        if (test_far::all_clocks().is_on())
            test_far::all_clocks().ran(test_far::memory_with(c).instance(), std::array<const void*, 2>{a, b},
                                       std::array<const void*, 1>{c}, 2. * static_cast<double>(m * n * k));
        if (const auto here = at(on))
            cpu::gemm<T>(*here, ta, tb, m, n, k, at(a), at(b), at(c), {at(last.row), last.rectified});
    }
    template <matrix_function F, class T>
    static void matrices(const execution_context& on, const matrix_task& t, const std::array<const T*, 2>& in,
                         const std::array<T*, 3>& out, const error_site& where) {
        if (const auto here = at(on)) cpu::matrices<F>(*here, t, at(in), at(out), where);
    }
    template <matrix_function F, class T>
    static std::size_t matrix_scratch(const execution_context& on, const matrix_task& t) {
        return cpu::matrix_scratch<F, T>(on, t);
    }
    static bool matrices_are_shared(const execution_context& on, const matrix_task& t) {
        return cpu::matrices_are_shared(on, t);
    }
    template <class F, class X, class Y, std::size_t N>
    static void transform(const execution_context& on, index_t n, const F& f, const X* x,
                          const std::array<const float*, N>& numbers, Y* y) {
        if (const auto here = at(on)) cpu::transform(*here, n, f, at(x), at(numbers), at(y));
    }
    template <class Q>
    static void quantized_convolve(const execution_context& on, const convolution_shape& s, const Q* x, const Q* f,
                                   const std::array<const float*, 4>& ranges, qint32* y) {
        if (const auto here = at(on)) cpu::quantized_convolve(*here, s, at(x), at(f), at(ranges), at(y));
    }
    static std::size_t quantized_scratch(const convolution_shape& s) { return cpu::quantized_scratch(s); }
    template <class T>
    static std::size_t gemm_scratch(const execution_context& on, bool ta, bool tb, index_t m, index_t n, index_t k) {
        return cpu::gemm_scratch<T>(on, ta, tb, m, n, k);
    }
    template <class T>
    static bool gemm_is_shared(const execution_context& on, bool ta, bool tb, index_t m, index_t n, index_t k) {
        return cpu::gemm_is_shared<T>(on, ta, tb, m, n, k);
    }

    template <class T>
    static void convolve(const execution_context& on, const convolution_shape& s, const T* x, const T* f, T* y,
                         const product_epilogue<T>& last = {}) {
        if (const auto here = at(on)) cpu::convolve<T>(*here, s, at(x), at(f), at(y), {at(last.row), last.rectified});
    }
    template <class T>
    static void convolve_input(const execution_context& on, const convolution_shape& s, const T* f, const T* g, T* dx) {
        if (const auto here = at(on)) cpu::convolve_input(*here, s, at(f), at(g), at(dx));
    }
    template <class T>
    static void convolve_filter(const execution_context& on, const convolution_shape& s, const T* x, const T* g,
                                T* df) {
        if (const auto here = at(on)) cpu::convolve_filter(*here, s, at(x), at(g), at(df));
    }
    template <class T>
    static std::size_t convolution_scratch(const execution_context& on, convolution_part part,
                                           const convolution_shape& s) {
        return cpu::convolution_scratch<T>(on, part, s);
    }
    template <class T>
    static bool convolution_is_shared(const execution_context& on, convolution_part part, const convolution_shape& s) {
        return cpu::convolution_is_shared<T>(on, part, s);
    }
    template <class T>
    static void depthwise_convolve(const execution_context& on, const convolution_shape& s, const T* x, const T* f,
                                   T* y) {
        if (const auto here = at(on)) cpu::depthwise_convolve(*here, s, at(x), at(f), at(y));
    }
    template <class T>
    static void depthwise_convolve_input(const execution_context& on, const convolution_shape& s, const T* f,
                                         const T* g, T* dx) {
        if (const auto here = at(on)) cpu::depthwise_convolve_input(*here, s, at(f), at(g), at(dx));
    }
    template <class T>
    static void depthwise_convolve_filter(const execution_context& on, const convolution_shape& s, const T* x,
                                          const T* g, T* df) {
        if (const auto here = at(on)) cpu::depthwise_convolve_filter(*here, s, at(x), at(g), at(df));
    }
    template <class T> static std::size_t depthwise_scratch(const convolution_shape& s) {
        return cpu::depthwise_scratch<T>(s);
    }
    template <class T>
    static void max_pool(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* y) {
        if (const auto here = at(on)) cpu::max_pool(*here, w, channels, at(x), at(y));
    }
    template <class T>
    static void max_pool_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* x,
                                  const T* y, const T* g, T* dx) {
        if (const auto here = at(on)) cpu::max_pool_gradient(*here, w, channels, at(x), at(y), at(g), at(dx));
    }
    template <class T>
    static void max_pool_gather(const execution_context& on, const window_shape& w, index_t channels, const T* x,
                                const T* y, const T* from, T* to) {
        if (const auto here = at(on)) cpu::max_pool_gather(*here, w, channels, at(x), at(y), at(from), at(to));
    }
    template <class T>
    static void average_pool(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* y) {
        if (const auto here = at(on)) cpu::average_pool(*here, w, channels, at(x), at(y));
    }
    template <class T>
    static void average_pool_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* g,
                                      T* dx) {
        if (const auto here = at(on)) cpu::average_pool_gradient(*here, w, channels, at(g), at(dx));
    }
    template <class T>
    static void image_patches(const execution_context& on, const window_shape& w, index_t channels, const T* x, T* to) {
        if (const auto here = at(on)) cpu::image_patches(*here, w, channels, at(x), at(to));
    }
    template <class T>
    static void image_patches_gradient(const execution_context& on, const window_shape& w, index_t channels, const T* g,
                                       T* dx) {
        if (const auto here = at(on)) cpu::image_patches_gradient(*here, w, channels, at(g), at(dx));
    }

    template <class T>
    static void copy(const execution_context& on, const T* from, T* to, const detail::strided_layout& l) {
        if (const auto here = at(on)) cpu::copy(*here, at(from), at(to), l);
    }
    template <class T>
    static void add(const execution_context& on, const T* from, T* to, const detail::strided_layout& l) {
        if (const auto here = at(on)) cpu::add(*here, at(from), at(to), l);
    }
    static void copy(const execution_context& on, dtype of, const void* from, void* to, index_t n) {
        if (const auto here = at(on)) cpu::copy(*here, of, at(from), at(to), n);
    }
    template <class T> static void fill(const execution_context& on, index_t n, T* to, const T& value) {
        if (const auto here = at(on)) cpu::fill(*here, n, at(to), value);
    }

    template <class T, class Accepts>
    static void check(const execution_context& on, const T* x, index_t n, const Accepts& accepts,
                      const error_site& where) {
        if (const auto here = at(on)) cpu::check(*here, at(x), n, accepts, where);
    }
    /// The host can't read the elements, so it does not know.
    template <class T> static bool known_finite(const T*, index_t n) { return n == 0; }
    template <class T, class I>
    static void gather(const execution_context& on, const T* table, const I* ids, T* to, index_t outer, index_t extent,
                       index_t inner, index_t count) {
        if (const auto here = at(on)) cpu::gather(*here, at(table), at(ids), at(to), outer, extent, inner, count);
    }
    template <class T, class I>
    static void scatter_add(const execution_context& on, const T* from, const I* ids, T* to, index_t outer,
                            index_t extent, index_t inner, index_t count) {
        if (const auto here = at(on)) cpu::scatter_add(*here, at(from), at(ids), at(to), outer, extent, inner, count);
    }
    template <class T, class I>
    static void one_hot(const execution_context& on, const I* ids, T* to, index_t outer, index_t depth, index_t inner,
                        T one, T zero) {
        if (const auto here = at(on)) cpu::one_hot(*here, at(ids), at(to), outer, depth, inner, one, zero);
    }
    template <class I>
    static void flat_indices(const execution_context& on, const I* ids, std::int64_t* to, index_t count,
                             const dims& shape, const error_site& where) {
        if (const auto here = at(on)) cpu::flat_indices(*here, at(ids), at(to), count, shape, where);
    }
    template <class T, class I>
    static void gather_rows(const execution_context& on, const T* table, const I* ids, T* to, index_t count,
                            const dims& shape, index_t inner, const error_site& where) {
        if (const auto here = at(on)) cpu::gather_rows(*here, at(table), at(ids), at(to), count, shape, inner, where);
    }
    static std::size_t gather_rows_scratch(index_t count) { return cpu::gather_rows_scratch(count); }
    template <combine How, class T, class I>
    static void combine_segments(const execution_context& on, const T* x, const I* ids, T* to, index_t count,
                                 index_t segments, index_t inner, T empty, const error_site& where) {
        if (const auto here = at(on))
            cpu::combine_segments<How>(*here, at(x), at(ids), at(to), count, segments, inner, empty, where);
    }
    template <combine How> static std::size_t combine_segments_scratch(index_t segments) {
        return cpu::combine_segments_scratch<How>(segments);
    }
    template <class T, class I>
    static void gather_segments(const execution_context& on, const T* x, const I* ids, T* to, index_t inner,
                                index_t count) {
        if (const auto here = at(on)) cpu::gather_segments(*here, at(x), at(ids), at(to), inner, count);
    }
    template <bool Largest, class T, class Out>
    static void arg_extreme(const execution_context& on, const T* x, Out* to, index_t outer, index_t extent,
                            index_t inner) {
        if (const auto here = at(on)) cpu::arg_extreme<Largest>(*here, at(x), at(to), outer, extent, inner);
    }
    template <class T>
    static void top_k(const execution_context& on, const T* x, T* values, std::int32_t* ids, index_t rows,
                      index_t columns, index_t k) {
        if (const auto here = at(on)) cpu::top_k(*here, at(x), at(values), at(ids), rows, columns, k);
    }
    static std::size_t top_k_scratch(index_t columns) { return cpu::top_k_scratch(columns); }
    template <combine How, class T>
    static void scan(const execution_context& on, const T* x, T* to, index_t outer, index_t extent, index_t inner,
                     bool exclusive, bool reverse) {
        if (const auto here = at(on)) cpu::scan<How>(*here, at(x), at(to), outer, extent, inner, exclusive, reverse);
    }
    template <class T>
    static void linear_recurrence(const execution_context& on, const T* factors, const T* terms, T* to, index_t outer,
                                  index_t extent, index_t inner, bool reverse) {
        if (const auto here = at(on))
            cpu::linear_recurrence(*here, at(factors), at(terms), at(to), outer, extent, inner, reverse);
    }

    template <class T> static std::size_t row_scratch(index_t columns, int arrays) {
        return cpu::row_scratch<T>(columns, arrays);
    }
    template <class T, class I, std::size_t In, std::size_t Out, class F>
    static void rows(const execution_context& on, index_t count, index_t columns, const std::array<const T*, In>& in,
                     const std::array<T*, Out>& out, const row_numbers<T, I>& numbers, const F& f) {
        if (const auto here = at(on)) cpu::rows(*here, count, columns, at(in), at(out), at(numbers), f);
    }

    template <class F, class T, std::size_t N>
    static void compute_scalars(const execution_context& on, const F& f, const std::array<const T*, N>& from, T* to) {
        if (const auto here = at(on)) cpu::compute_scalars(*here, f, at(from), at(to));
    }
    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(const execution_context& on, index_t n, const std::array<const T*, S>& was,
                       const std::array<T*, S>& state, const std::array<const T*, I>& in,
                       const update_constants<T, C>& constants) {
        if (const auto here = at(on)) cpu::update<F>(*here, n, at(was), at(state), at(in), at(constants));
    }
    template <class F, class T, class I, std::size_t S, std::size_t N, std::size_t C>
    static void update_rows(const execution_context& on, const I* ids, index_t count, index_t inner,
                            const std::array<T*, S>& state, const std::array<const T*, N>& in,
                            const update_constants<T, C>& constants, equal_ids how) {
        if (const auto here = at(on))
            cpu::update_rows<F>(*here, at(ids), count, inner, at(state), at(in), at(constants), how);
    }
    template <class T> static std::size_t update_rows_scratch(index_t count, index_t inner, int inputs) {
        return cpu::update_rows_scratch<T>(count, inner, inputs);
    }

    template <class T>
    static void random_uniform(const execution_context& on, index_t n, const random_stream* s, double from, double end,
                               T* to) {
        if (const auto here = at(on)) cpu::random_uniform(*here, n, at(s), from, end, at(to));
    }
    template <class T>
    static void random_normal(const execution_context& on, index_t n, const random_stream* s, double mean,
                              double deviation, T* to) {
        if (const auto here = at(on)) cpu::random_normal(*here, n, at(s), mean, deviation, at(to));
    }
    template <class T>
    static void truncated_normal(const execution_context& on, index_t n, const random_stream* s, double mean,
                                 double deviation, T* to) {
        if (const auto here = at(on)) cpu::truncated_normal(*here, n, at(s), mean, deviation, at(to));
    }
    template <class T>
    static void random_gamma(const execution_context& on, index_t n, const random_stream* s, double shape, double rate,
                             T* to) {
        if (const auto here = at(on)) cpu::random_gamma(*here, n, at(s), shape, rate, at(to));
    }
    template <class T>
    static void random_poisson(const execution_context& on, index_t n, const random_stream* s, double rate, T* to) {
        if (const auto here = at(on)) cpu::random_poisson(*here, n, at(s), rate, at(to));
    }
    template <class T>
    static void multinomial(const execution_context& on, const T* logits, index_t rows, index_t classes, index_t draws,
                            const random_stream* s, std::int64_t* to, const error_site& where) {
        if (const auto here = at(on)) cpu::multinomial(*here, at(logits), rows, classes, draws, at(s), at(to), where);
    }
    static std::size_t multinomial_scratch(index_t classes) { return cpu::multinomial_scratch(classes); }
    static void shuffle(const execution_context& on, dtype of, const void* from, void* to, index_t rows, index_t inner,
                        const random_stream* s) {
        if (const auto here = at(on)) cpu::shuffle(*here, of, at(from), at(to), rows, inner, at(s));
    }
    static std::size_t shuffle_scratch(index_t rows) { return cpu::shuffle_scratch(rows); }
};

template <class... D> struct device_list; // device/devices.hpp, which includes this
using more_devices = device_list<far>;

}}} // namespace rill::RILL_ABI::RILL_ISA
