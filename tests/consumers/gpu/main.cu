// SPDX-License-Identifier: BSD-3-Clause
// A program of nvcc with the definitions and flags of rill::gpu, and CUDA's runtime. It has no kernels of rill, which take nvcc minutes
// (tests/nvcc compiles them). On a machine without a card it says that there is none.
#include <cstdio>

#include <rill/device/cuda/gpus.hpp>

#ifndef RILL_MORE_DEVICES
#error "rill::gpu does not name the device"
#endif

constexpr int on_host() { return 3; } // the kernel may call it by --expt-relaxed-constexpr

__global__ void write(int* to) { *to = on_host(); }

int main() {
    for (const auto* gpu : rill::the_gpus()) {
        int* there = static_cast<int*>(gpu->blocks->allocate(sizeof(int)));
        int got = 0;
        write<<<1, 1, 0, gpu->stream()>>>(there);
        rill::detail::copy_to_host(*gpu, there, &got, sizeof got);
        gpu->blocks->deallocate(there, sizeof(int));
        if (got != 3) return 1;
    }
    std::printf("%zu GPUs\n", rill::the_gpus().size());
}
