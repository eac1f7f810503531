// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include <rill/device/lane.hpp>
#include <rill/device/structure.hpp>

// Kernels that call the value functions of ops, for the files of this folder. They are compiled and read, never run.

namespace rill_test {

using namespace rill;
using detail::at;

__device__ inline std::size_t element() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }

template <std::size_t... K, class... A>
__device__ auto load(const detail::plain_tuple_of<std::index_sequence<K...>, const A*...>& in, std::size_t i) {
    return detail::plain_tuple<lane<A>...>(lane<A>(at<K>(in)[i])...);
}
template <class T> __device__ void store(const lane<T>& value, T* to, std::size_t i) { to[i] = value.v; }
template <class T> __device__ void store(const no_gradient&, T*, std::size_t) {}

/// Computes an expression. In: a plain_tuple of pointers, one for each leaf.
template <class S, class In> __global__ void forward(In in, typename S::value_type* out) {
    const std::size_t i = element();
    out[i] = detail::evaluator<S, 0, 0>::value(load(in, i), detail::plain_tuple<>()).v;
}

/// Computes the adjoints of the leaves of an expression.
template <class S, class In, class Out>
__global__ void adjoint(In in, const typename S::value_type* gradient, Out out) {
    const std::size_t i = element();
    const auto values = detail::evaluator<S, 0, 0>::forward(load(in, i), detail::plain_tuple<>());
    detail::leaf_slots<S, lane> slots;
    detail::pullback_of<S, 0>::run(values, lane<typename S::value_type>(gradient[i]), slots);
    [&]<std::size_t... K>(std::index_sequence<K...>) {
        (store(at<K>(slots), at<K>(out), i), ...);
    }(std::make_index_sequence<S::leaves>{});
}

/// Has nvcc compile a kernel.
template <class Kernel> void compile(Kernel* kernel) { [[maybe_unused]] static Kernel* volatile const held = kernel; }

/// Compiles the kernels of one op over these element types: `forward`, and `adjoint` if the op has one.
template <class Op, class... A> void compile_op() {
    using S = structure<Op, elementwise_result<Op, A...>, leaf<A>...>;
    using In = detail::plain_tuple<const A*...>;
    compile(&forward<S, In>);
    if constexpr (detail::differentiable_structure<S>) compile(&adjoint<S, In, detail::plain_tuple<A*...>>);
}

} // namespace rill_test
