// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <rill/core/dims.hpp>
#include <rill/core/dtype.hpp>
#include <rill/device/cpu/jit/executable_memory.hpp>
#include <rill/device/kernel_registry.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// True if this build has the JIT: with xbyak, for Unix on x86-64.
inline constexpr bool emits_programs = RILL_WITH_JIT;

inline constexpr std::size_t most_jit_operands = 64;
inline constexpr std::size_t most_jit_ops = 256, most_jit_programs = 4096; // per process: code is never freed
inline constexpr index_t least_emitted_elements = 64;                      // fewer do not repay the time to compile

inline constexpr int lanes_at(int level, int element_bytes) { return (level >= 4 ? 64 : 32) / element_bytes; }

/// Returns the size of a number that vector code computes with, else 0.
inline int number_bytes(dtype d) {
    return d == dtype::float32 || d == dtype::int32 ? 4 : d == dtype::float64 || d == dtype::int64 ? 8 : 0;
}

/// Returns true if this process can run generated code.
inline bool runs_made_code() {
    static const bool runs = emits_programs && best_level() >= 3 && make_executable(std::array<std::uint8_t, 1>{0xc3});
    return runs;
}

}}} // namespace rill::RILL_ABI::detail
