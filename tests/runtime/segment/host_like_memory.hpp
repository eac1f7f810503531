// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <rill/core/memory_space.hpp>

namespace test_segments {

using namespace rill;

/// A memory like the host's, in which the CPU's kernels can run. A test adds what else it needs.
inline memory_space host_like_memory(const char* name) {
    constexpr auto copy = [](const memory_space&, const void* from, void* to, std::size_t n) {
        std::memcpy(to, from, n);
    };
    return {.name = name,
            .blocks = &default_allocator(),
            .from_host = copy,
            .to_host =
                [](const memory_space&, const void* from, void* host, std::size_t n) {
                    std::memcpy(host, from, n);
                    return std::uint64_t(0);
                },
            .within = copy,
            .wait = [](const memory_space&, std::uint64_t) {}};
}

} // namespace test_segments
