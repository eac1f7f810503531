// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <rill/device/block.hpp>
#include <rill/device/cpu/vector_code.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What is left of a block when the loop is done with whole registers; called with what it was made for.
using loop_rest = void (*)(const block_args& a, std::int64_t done, const void* of);

/// Machine code of a block function: a loop over registers of 8 floats (AVX2 and FMA) or 16 (AVX-512), then `rest`. The code is
/// finished. Leaves are read before any result of the same elements is written, so that results may take their place.
std::vector<std::uint8_t> x86_loop(const vector_code& code, loop_rest rest, const void* of);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/x86_loop.ipp>
#endif
