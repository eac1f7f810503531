// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <rill/device/block.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline constexpr std::size_t most_padded = 128;

/// Runs a block function on the last elements of a block, from `done` on, which are fewer than `lanes`: together with some
/// before them once more, or where there are too few, or results took the place of leaves, in buffers of that many, where the
/// last element repeats, so that padding brings no error of its own. Sizes are bytes of an element, per leaf and per result;
/// `memory` holds `lanes` elements of each.
void run_padded(block_function f, const block_args& a, std::int64_t done, int lanes,
                std::span<const std::uint8_t> leaf_sizes, std::span<const std::uint8_t> result_sizes,
                std::byte* memory);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/padded_tail.ipp>
#endif
