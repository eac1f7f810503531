// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernels of the device "gpu", for rill::gpu_kernels. nvcc compiles them in parts (CMakeLists.txt), in the form of rill::kernels. No
// program includes this file.

#if !RILL_COMPILED || !RILL_IN_KERNELS
#error "rill/gpu_kernels.hpp is for the files of rill::gpu_kernels"
#endif

#include <rill/each_kernel.hpp>
#include <rill/gpu.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Registers what it visits for device D alone.
template <class D> struct kernels_of_device {
    template <class Op, class T> static void kernel() { register_kernel_on<D, Op, T>(); }
    template <class Op, class... T> static void primitive() {
        D::template compile_one_op<structure<Op, elementwise_result<Op, T...>, leaf<T>...>>();
    }
    template <class S>
    static void expression() {} // NVRTC compiles it in the program, else each instruction is a kernel
    template <combine How, class T> static void combiner() { D::template compile_reducer<How, T>(); }
};

template <class Part> void register_gpu_kernels() { each_of_catalogue<kernels_of_device<gpu>, Part>(); }

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Registers part I of the kernels.
template <std::size_t I> void register_gpu_part();

}}} // namespace rill::RILL_ABI::detail
