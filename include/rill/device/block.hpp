// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/core/program.hpp>

namespace rill { inline namespace RILL_ABI {

/// Elements per block. Fused loops work block by block, so intermediate values stay in the L1 cache.
/// Block boundaries depend on shapes alone; results are therefore independent of the number of threads.
inline constexpr std::int64_t block_elements = 1024;

/// The most operands, pointers and results of a fusion group with several members.
/// A single node, and a group over one element, may have any number.
inline constexpr std::size_t most_operands = 64;

/// Arguments of one block-function call over n elements; every leaf and result is contiguous.
struct block_args {
    const void* const* leaf;   // one pointer per leaf occurrence
    const void* const* scalar; // one pointer to the value per scalar
    void* const* result;       // forward: one per result; adjoint: one per leaf, at its first occurrence, else null
    const std::uint32_t* mask; // adjoint: per first occurrence, a bit set of the same leaf's later ones
    std::int64_t n;
};

using block_function = void (*)(const block_args&);

}} // namespace rill::RILL_ABI
