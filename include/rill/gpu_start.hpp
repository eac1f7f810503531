// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The start of programs that link rill::gpu_kernels: it registers the device "gpu" and its kernels if there is a GPU. For one file of that
// library, which programs link since they ask for the symbol rill_gpu_kernels (CMakeLists.txt).

#include <cstddef>
#include <utility>

#include <rill/expr/fused_op.hpp>
#include <rill/gpu.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

template <std::size_t I> void register_gpu_part();

template <std::size_t... I> void register_gpu_parts(std::index_sequence<I...>) { (register_gpu_part<I>(), ...); }

/// Registers the kernels. Returns false if this process has no GPU: then no program finds them.
inline bool register_linked_gpu_kernels() {
    if (!register_gpus()) return false;
    register_fused_on<gpu>();
    register_gpu_parts(std::make_index_sequence<RILL_GPU_PARTS>());
    return true;
}

}}} // namespace rill::RILL_ABI::detail

extern "C" {
extern const bool rill_gpu_kernels;
const bool rill_gpu_kernels = rill::detail::register_linked_gpu_kernels();
}
