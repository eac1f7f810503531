// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/core/program.hpp>

namespace rill { inline namespace RILL_ABI {

/// Elements of a block: what fused loops work on at a time, so that intermediate values stay in the first-level cache.
/// Blocks are cut by shape alone, which keeps results independent of threads.
inline constexpr std::int64_t block_elements = 1024;

/// Operands, pointers and results that a chain of several fused nodes may have; a node alone, and a chain over one element,
/// may have any number.
inline constexpr std::size_t most_operands = 64;

/// One call of a block function: n elements, every leaf and result contiguous.
struct block_args {
    const void* const* leaf;   // per leaf occurrence
    const void* const* scalar; // per scalar: its value
    void* const* result;       // forward: per result; adjoint: per leaf occurrence that leads its leaf, else null
    const std::uint32_t* mask; // adjoint: for a leading occurrence, which later ones are the same leaf
    std::int64_t n;
};

using block_function = void (*)(const block_args&);

}} // namespace rill::RILL_ABI
