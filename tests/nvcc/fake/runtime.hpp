// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A CUDA runtime for tests, linked instead of NVIDIA's: one card, whose memory is the host's. Kernels are counted and not run, so values
// are zeros. CUDA graphs are lists of kernels with their arguments; a WHILE node runs once. Programs of nvcc start and run on a machine without a driver, and say
// what a step asks of the runtime.

#include <cstddef>
#include <string>
#include <vector>

namespace fake_cuda {

/// The calls since the last reset.
struct counts {
    int launches = 0;    // kernels that were started one by one
    int graphs = 0;      // starts of CUDA graphs
    int captures = 0;    // graphs that were captured
    int allocations = 0; // of the card's memory, and of pinned memory
    int releases = 0;
    int waits =
        0; // calls that wait for the card: for a stream, an event or a device, and copies that are not asynchronous
    int copies_in = 0;  // asynchronous copies to the card
    int copies_out = 0; // asynchronous copies from it
    int copies_within = 0;
    int programs = 0; // loaded machine code
};

/// A kernel that was started, by itself or by a graph.
struct launch {
    const void* kernel = nullptr; // null: a copy or a fill
    unsigned blocks = 0, threads = 0;
    std::vector<std::string> arguments; // their bytes

    friend bool operator==(const launch&, const launch&) = default;
};

/// Returns the kernels that were started since the last reset, those of graphs among them.
const std::vector<launch>& started();
/// Returns the counts.
counts& counted();
/// Sets all counts to zero, and forgets what was started.
void reset();
/// Returns from how many compiled files the kernels were that started since the last reset. Each file has __device__ variables of its own.
int files();
/// Makes the next wait for the card return an error, as all calls after it, until it is called with 0 (cudaSuccess).
void fail(int error);
/// Makes the next copies of one byte to the host read 1: the conditions of loops hold so many times.
void hold(int times);
/// Returns the bytes of the card's memory, and those in use.
std::size_t total();
std::size_t in_use();

} // namespace fake_cuda
