// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>

#include <rill/device/device.hpp>

/// Returns the type of device that a program has beside the CPU. Programs that nvcc compiles with <rill/gpu.hpp> have "gpu"; on a machine
/// without a card they end here, and ctest counts them as skipped. Others, with <rill/thrust.hpp>, have "thrust", with the same kernels on
/// threads of the host.
inline const char* accelerator() {
#if defined(__CUDACC__)
    if (rill::find_device("gpu")) return "gpu";
    std::puts("no GPU is found");
    std::exit(77);
#else
    return "thrust";
#endif
}
