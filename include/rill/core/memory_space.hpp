// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include <rill/core/allocator.hpp>
#include <rill/core/dims.hpp>

namespace rill { inline namespace RILL_ABI {

struct recorded_loop;

/// A memory that the host can't address: the allocator of its blocks, and functions that copy to and from it. Code that holds a pointer to
/// a space uses null for the host's memory. A space must live until the process ends.
struct memory_space {
    std::string name;            // "far:1", for messages
    allocator* blocks = nullptr; // never null for a space in use
    // Copies of n bytes. The first argument is the space itself, so that several spaces may share one function. A device does its copies
    // and kernels one after another, in the order of the calls; a copy may end after the call. `from_host` has read the host's bytes when
    // it returns. `to_host` returns a ticket: its bytes are there after wait(ticket). The allocator frees a block after the copies that
    // use it.
    void (*from_host)(const memory_space& space, const void* host, void* to, std::size_t n) = nullptr;
    std::uint64_t (*to_host)(const memory_space& space, const void* from, void* host, std::size_t n) = nullptr;
    void (*within)(const memory_space& space, const void* from, void* to, std::size_t n) = nullptr;
    /// Waits for the copy of a ticket and all earlier work of the device.
    void (*wait)(const memory_space& space, std::uint64_t ticket) = nullptr;
    std::size_t bytes = 0; // total size; 0: unknown
    /// Returns the bytes that can still be allocated. If null, placers assume that all `bytes` are free.
    std::size_t (*free_bytes)(const memory_space& space) = nullptr;
    /// Returns the bytes of the largest block that can be allocated. If null, that is as much as is free.
    std::size_t (*largest_block)(const memory_space& space) = nullptr;
    /// Records the kernels that start() starts in this thread, and runs none of them. Returns a function that starts all of them at once,
    /// in their order and with the same arguments, any number of times; one thread at a time calls it. Returns an empty function if the
    /// device could not record them. Null: the device records nothing.
    std::function<void()> (*capture)(const memory_space& space, const std::function<void()>& start) = nullptr;
    /// Records a loop (device/recorded_loop.hpp), likewise. Null: the host starts each iteration.
    std::function<void()> (*capture_loop)(const memory_space& space, const recorded_loop& loop) = nullptr;
};

namespace detail {

/// Copies n elements between blocks of host memory that don't overlap.
inline void copy_elements(dtype type, const void* from, void* to, index_t n) {
    if (type == dtype::string)
        std::copy_n(static_cast<const std::string*>(from), n, static_cast<std::string*>(to));
    else if (n > 0)
        std::memcpy(to, from, static_cast<std::size_t>(n) * size_of(type));
}

/// Copies bytes to host memory and waits for the copy.
inline void copy_to_host(const memory_space& space, const void* from, void* host, std::size_t bytes) {
    space.wait(space, space.to_host(space, from, host, bytes));
}

/// Copies bytes between two memories, at least one of which is a space. Two different spaces copy through host memory. A copy to the host
/// has ended when it returns.
void copy_bytes(const memory_space* from_space, const void* from, const memory_space* to_space, void* to,
                std::size_t bytes);

/// Copies n elements between two memories; null is the host's. The blocks must not overlap.
inline void copy_between(const memory_space* from_space, const void* from, const memory_space* to_space, void* to,
                         dtype type, index_t n) {
    if (!from_space && !to_space) return copy_elements(type, from, to, n);
    if (n > 0) copy_bytes(from_space, from, to_space, to, static_cast<std::size_t>(n) * size_of(type));
}

/// Returns the allocator of a memory. `host` is the allocator of host memory.
inline allocator& blocks_of(const memory_space* space, allocator& host) { return space ? *space->blocks : host; }

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/memory_space.ipp>
#endif
