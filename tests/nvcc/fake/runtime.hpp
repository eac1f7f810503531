// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A CUDA runtime for tests, linked instead of NVIDIA's: one card, whose memory is the host's. Kernels are counted and not run, so values
// are zeros. Programs of nvcc start and run on a machine without a driver, and say what a step asks of the runtime.

#include <cstddef>

namespace fake_cuda {

/// The calls since the last reset.
struct counts {
    int launches = 0;    // kernels
    int allocations = 0; // of the card's memory, and of pinned memory
    int releases = 0;
    int waits = 0;      // calls that wait for the card: for a stream, an event or a device, and copies that are not asynchronous
    int copies_in = 0;  // asynchronous copies to the card
    int copies_out = 0; // asynchronous copies from it
    int copies_within = 0;
};

/// Returns the counts.
counts& counted();
/// Sets all counts to zero.
void reset();
/// Makes the next wait for the card return an error, as all calls after it, until it is called with 0 (cudaSuccess).
void fail(int error);
/// Returns the bytes of the card's memory, and those in use.
std::size_t total();
std::size_t in_use();

} // namespace fake_cuda
