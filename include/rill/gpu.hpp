// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The device "gpu", for programs that nvcc compiles: `nvcc -x cu -std=c++20 --expt-relaxed-constexpr "-DRILL_MORE_DEVICES=<rill/gpu.hpp>"`
// (docs/gpu.md). If a GPU is found, nodes run on it by default.

#if !defined(__CUDACC__)
#error "rill/gpu.hpp is for files that nvcc compiles; other programs can't start kernels"
#endif

#include <string_view>

#include <rill/device/cpu/cpu.hpp>
#include <rill/device/cuda/cuda_backend.hpp>
#include <rill/device/thrust/thrust_device.hpp>

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// The GPU device, based on CUDA.
struct gpu : thrust_device<gpu, cuda_backend> {
    static constexpr std::string_view type = "gpu";
};

template <class... D> struct device_list; // device/devices.hpp, which includes this header
using more_devices = device_list<gpu>;

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail {

inline const bool gpus_at_start = register_gpus();

}}} // namespace rill::RILL_ABI::detail
