// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <rill/device/block.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

inline constexpr std::size_t most_padded = 128;

/// Runs a block function on the tail of a block: the elements from `done` on, which are fewer than `lanes`.
/// If enough elements precede the tail, it recomputes some of them together with the tail.
/// If results overlap leaves, or too few elements precede, it runs in buffers of `lanes` elements.
/// They are padded with the last element, so that padding raises no error of its own (a division by zero).
/// Sizes are bytes per element, for each leaf and result; `memory` holds `lanes` elements of each.
void run_padded(block_function f, const block_args& a, std::int64_t done, int lanes,
                std::span<const std::uint8_t> leaf_sizes, std::span<const std::uint8_t> result_sizes,
                std::byte* memory);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/device/cpu/fusion/padded_tail.ipp>
#endif
