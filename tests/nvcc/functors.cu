// SPDX-License-Identifier: BSD-3-Clause
// The functors that ops give to primitives, as kernels: functions of rows, optimizers' rules, updates and checks.
#include <array>

#include <rill/device/philox.hpp>
#include <rill/ops/linalg/orthogonal.hpp>
#include <rill/ops/math/check_numerics.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/ops/nn/log_softmax.hpp>
#include <rill/ops/nn/softmax.hpp>
#include <rill/ops/nn/softmax_cross_entropy.hpp>
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>
#include <rill/ops/quantized/quantize.hpp>
#include <rill/ops/state/count_up_to.hpp>
#include <rill/train/catalogue.hpp>

#include "kernels.hpp"

namespace rill_test {

/// A row of a matrix, 32 threads to a row: the layout that functions of rows see.
template <class T> class warp_row {
public:
    using V = lane<T>;
    static constexpr int lanes = 1, rows = 1;

    __device__ explicit warp_row(index_t columns) : columns_(columns) {}

    __device__ static V load(const T* from, index_t at) { return V(from[at]); }
    __device__ static void store(const V& v, T* to, index_t at) { to[at] = v.v; }
    template <class F> __device__ void each(F f) const {
        for (index_t i = threadIdx.x % 32; i < columns_; i += 32) f(i);
    }
    template <class F> __device__ V sum(F f) const {
        V all(T(0));
        each([&](index_t i) { all = all + f(i); });
        for (int step = 16; step > 0; step /= 2) all = all + V(__shfl_xor_sync(~0u, all.v, step));
        return all;
    }
    template <class F> __device__ V largest(F f) const {
        V all(-std::numeric_limits<T>::infinity());
        each([&](index_t i) { all = max(all, f(i)); });
        for (int step = 16; step > 0; step /= 2) all = max(all, V(__shfl_xor_sync(~0u, all.v, step)));
        return all;
    }
    __device__ static index_t place(int, index_t column) { return column; }
    __device__ static void store_numbers(const V& v, T* to) { *to = v.v; }

private:
    index_t columns_;
};

template <class F, class T>
__global__ void rows(index_t columns, std::array<const T*, 2> in, T* out, row_numbers<T> numbers) {
    const auto row = static_cast<index_t>(element() / 32);
    for (auto& x : in) x += row * columns;
    F{}(warp_row<T>(columns), in, std::array<T*, 1>{out + row * columns}, numbers.from(row));
}

template <class F, class T, std::size_t State, std::size_t In, std::size_t Constants>
__global__ void update(std::array<T*, State> state, std::array<const T*, In> in,
                       std::array<const T*, Constants> constants) {
    const std::size_t i = element();
    std::array<lane<T>, State> s{};
    std::array<lane<T>, In> x{};
    std::array<lane<T>, Constants> c{};
    for (std::size_t k = 0; k < State; ++k) s[k] = lane<T>(state[k][i]);
    for (std::size_t k = 0; k < In; ++k) x[k] = lane<T>(in[k][i]);
    for (std::size_t k = 0; k < Constants; ++k) c[k] = lane<T>(*constants[k]);
    F::run(s, x, c);
    for (std::size_t k = 0; k < State; ++k) state[k][i] = s[k].v;
}

template <class F, std::size_t N, std::size_t Results>
__global__ void scalars(F f, std::array<double, N> numbers, double* out) {
    const std::array<double, Results> all = f(numbers);
    for (std::size_t k = 0; k < Results; ++k) out[k] = all[k];
}

template <class F, class T> __global__ void check(F accepts, const T* in, bool* out) {
    const std::size_t i = element();
    out[i] = accepts(in[i]);
}

__global__ void random_bits(const random_stream* stream, philox::block* out) {
    const std::size_t i = element();
    out[i] = stream->block(i);
}

template <class T> void compile_rows() {
    compile(&rows<detail::softmax_row, T>);
    compile(&rows<detail::log_softmax_row, T>);
    compile(&rows<detail::cross_entropy_row<T>, T>);
    compile(&rows<detail::sparse_cross_entropy_row<T>, T>);
    compile(&rows<detail::unit_row, T>);
}

template <class Rule, class T> void compile_rule() {
    using constants = detail::rule_constants<Rule>;
    compile(&update<detail::rule_step<Rule>, T, Rule::slots.size() + 1, 1, constants::count>);
    compile(&scalars<constants, static_cast<std::size_t>(Rule::numbers), constants::count>);
}

template <class T> void compile_floating() {
    compile_rows<T>();
    compile(&check<finite_number, T>);
    compile(&check<detail::rate_inside, T>);
    optimizer_rules::each([]<class Rule>(std::type_identity<Rule>) { compile_rule<Rule, T>(); });
}

template <class T> void compile_integral() {
    compile(&check<index_inside<T>, T>);
    compile(&check<index_below<T>, T>);
    compile(&check<detail::below_limit, T>);
    compile(&update<detail::count_step, T, 1, 1, 0>);
}

void compile_functors() {
    compile_floating<float>();
    compile_floating<double>();
    compile(&check<detail::range_width, float>);
    compile_integral<std::int32_t>();
    compile_integral<std::int64_t>();
}

} // namespace rill_test
