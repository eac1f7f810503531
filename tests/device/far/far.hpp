// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A device for tests: it computes as the CPU does, in memory that the host can't read (memory.hpp). A session placed on it
// proves that nothing outside device/ follows a tensor's address, and that what kernels capture is no such address. Programs
// name this header as RILL_MORE_DEVICES.

#include <array>
#include <utility>

#include <rill/device/cpu/cpu.hpp>
#include <rill/device/device.hpp>

#include "memory.hpp"

namespace test_far {

template <class T> T* here(T* p) { return the_memory().readable(p); }
template <class T, std::size_t N> std::array<T*, N> here(std::array<T*, N> all) {
    for (auto& p : all) p = here(p);
    return all;
}
template <class T, class I> rill::row_numbers<T, I> here(const rill::row_numbers<T, I>& n) {
    return {here(n.read), here(n.written)};
}

/// A kernel of the CPU's, run on the same operands where they can be read.
inline rill::kernel translated(rill::kernel inner, const rill::kernel_request& request) {
    constexpr std::size_t most = 256;
    static constexpr auto numbers = [] {
        std::array<std::int32_t, most> all{};
        for (std::size_t i = 0; i < most; ++i) all[i] = static_cast<std::int32_t>(i);
        return all;
    }();
    const std::size_t in = request.inputs.size(), out = request.outputs.size();
    if (in + out + 1 > most) throw rill::internal("far: too many operands");
    return rill::kernel([inner = std::move(inner), in, out](const rill::kernel_args& a) {
        std::array<void*, most> slots;
        for (std::size_t i = 0; i < in; ++i) slots[i] = here(a.slots[a.inputs[i]]);
        for (std::size_t i = 0; i < out; ++i) slots[in + i] = here(a.slots[a.outputs[i]]);
        slots[in + out] = here(a.scratch());
        inner({slots.data(), numbers.data(), numbers.data() + in, numbers.data() + in + out, a.step});
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
    template <class S> static void compile_expression() { cpu::compile_expression<S>(); }
    template <class S> static void compile_one_op() { cpu::compile_one_op<S>(); }
    template <combine How, class T> static void compile_reducer() { cpu::compile_reducer<How, T>(); }
    static kernel fused(const fused_spec& spec, kernel_request& request) {
        return test_far::translated(cpu::fused(spec, request), request);
    }
    static kernel fused(const fusion_group& chain, kernel_request& request) {
        return test_far::translated(cpu::fused(chain, request), request);
    }

    template <class T>
    static void gemm(bool ta, bool tb, index_t m, index_t n, index_t k, const T* a, const T* b, T* c, void* scratch,
                     thread_pool* pool, const product_epilogue<T>& last = {}) {
        cpu::gemm<T>(ta, tb, m, n, k, at(a), at(b), at(c), at(scratch), pool,
                     {last.row ? at(last.row) : nullptr, last.rectified});
    }
    template <class T>
    static std::size_t gemm_scratch(bool ta, bool tb, index_t m, index_t n, index_t k, thread_pool* pool) {
        return cpu::gemm_scratch<T>(ta, tb, m, n, k, pool);
    }
    static double gemm_microseconds(index_t m, index_t n, index_t k) { return cpu::gemm_microseconds(m, n, k); }
    template <class T>
    static bool gemm_is_shared(bool ta, bool tb, index_t m, index_t n, index_t k, const thread_pool* pool) {
        return cpu::gemm_is_shared<T>(ta, tb, m, n, k, pool);
    }

    template <class T> static void copy(const T* from, T* to, const detail::strided_layout& l) {
        cpu::copy(at(from), at(to), l);
    }
    template <class T> static void add(const T* from, T* to, const detail::strided_layout& l) {
        cpu::add(at(from), at(to), l);
    }
    static void copy(dtype of, const void* from, void* to, index_t n) { cpu::copy(of, at(from), at(to), n); }
    template <class T> static void fill(index_t n, T* to, const T& value) { cpu::fill(n, at(to), value); }

    template <class I> static outside_index first_outside(const I* ids, index_t n, index_t extent) {
        return cpu::first_outside(at(ids), n, extent);
    }
    template <class T> static outside_index first_not_finite(const T* x, index_t n) {
        return cpu::first_not_finite(at(x), n);
    }
    template <class T, class I>
    static void gather(const T* table, const I* ids, T* to, index_t outer, index_t extent, index_t inner,
                       index_t count) {
        cpu::gather(at(table), at(ids), at(to), outer, extent, inner, count);
    }
    template <class T, class I>
    static void scatter_add(const T* from, const I* ids, T* to, index_t outer, index_t extent, index_t inner,
                            index_t count) {
        cpu::scatter_add(at(from), at(ids), at(to), outer, extent, inner, count);
    }
    template <class T, class I> static void one_hot(const I* ids, T* to, index_t count, index_t depth, T on, T off) {
        cpu::one_hot(at(ids), at(to), count, depth, on, off);
    }
    template <bool Largest, class T, class Out>
    static void arg_extreme(const T* x, Out* to, index_t outer, index_t extent, index_t inner) {
        cpu::arg_extreme<Largest>(at(x), at(to), outer, extent, inner);
    }
    template <combine How, class T>
    static void scan(const T* x, T* to, index_t outer, index_t extent, index_t inner, bool exclusive, bool reverse) {
        cpu::scan<How>(at(x), at(to), outer, extent, inner, exclusive, reverse);
    }
    template <class T>
    static void linear_recurrence(const T* factors, const T* terms, T* to, index_t outer, index_t extent, index_t inner,
                                  bool reverse) {
        cpu::linear_recurrence(at(factors), at(terms), at(to), outer, extent, inner, reverse);
    }

    template <class T> static std::size_t row_scratch(index_t columns, int arrays) {
        return cpu::row_scratch<T>(columns, arrays);
    }
    template <class T, class I, std::size_t In, std::size_t Out, class F>
    static void rows(index_t count, index_t columns, const std::array<const T*, In>& in, const std::array<T*, Out>& out,
                     const row_numbers<T, I>& numbers, void* scratch, const F& f) {
        cpu::rows(count, columns, at(in), at(out), at(numbers), at(scratch), f);
    }

    template <class F, class T, std::size_t S, std::size_t I, std::size_t C>
    static void update(index_t n, const std::array<const T*, S>& was, const std::array<T*, S>& state,
                       const std::array<const T*, I>& in, const std::array<T, C>& constants, thread_pool* pool) {
        cpu::update<F>(n, at(was), at(state), at(in), constants, pool);
    }
    template <class F, class T, class I, std::size_t S, std::size_t N, std::size_t C>
    static void update_rows(const I* ids, index_t count, index_t inner, const std::array<T*, S>& state,
                            const std::array<const T*, N>& in, const std::array<T, C>& constants, void* scratch) {
        cpu::update_rows<F>(at(ids), count, inner, at(state), at(in), constants, at(scratch));
    }
    template <class T> static std::size_t update_rows_scratch(index_t count, index_t inner, int inputs) {
        return cpu::update_rows_scratch<T>(count, inner, inputs);
    }

    template <class T> static void random_uniform(index_t n, const random_stream& s, double from, double end, T* to) {
        cpu::random_uniform(n, s, from, end, at(to));
    }
    template <class T>
    static void random_normal(index_t n, const random_stream& s, double mean, double deviation, T* to) {
        cpu::random_normal(n, s, mean, deviation, at(to));
    }
    template <class T>
    static void truncated_normal(index_t n, const random_stream& s, double mean, double deviation, T* to) {
        cpu::truncated_normal(n, s, mean, deviation, at(to));
    }
    template <class T> static void random_gamma(index_t n, const random_stream& s, double shape, double rate, T* to) {
        cpu::random_gamma(n, s, shape, rate, at(to));
    }
    template <class T> static void random_poisson(index_t n, const random_stream& s, double rate, T* to) {
        cpu::random_poisson(n, s, rate, at(to));
    }
    template <class T>
    static outside_index multinomial(const T* logits, index_t rows, index_t classes, index_t draws,
                                     const random_stream& s, std::int64_t* to, void* scratch) {
        return cpu::multinomial(at(logits), rows, classes, draws, s, at(to), at(scratch));
    }
    static std::size_t multinomial_scratch(index_t classes) { return cpu::multinomial_scratch(classes); }
};

template <class... D> struct device_list; // device/devices.hpp, which includes this
using more_devices = device_list<far>;

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace test_far {

/// The device as the runtime sees it, made known.
inline const rill::device_type& device() {
    static const rill::device_type& far = [&]() -> const rill::device_type& {
        auto& made = *new rill::device_type;
        made.name = rill::far::type;
        made.memory = &the_memory();
        made.to_device = [](const void* host, void* device, std::size_t n) { std::memcpy(here(device), host, n); };
        made.to_host = [](const void* device, void* host, std::size_t n) { std::memcpy(host, here(device), n); };
        made.within = [](const void* from, void* to, std::size_t n) { std::memcpy(here(to), here(from), n); };
        rill::register_device(made);
        return made;
    }();
    return far;
}

} // namespace test_far
