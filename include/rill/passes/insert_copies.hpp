// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <rill/passes/cost_model.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inserts a copy wherever a value is needed in another memory: that of its reader's device, or the host's (subgraph::item::input_device).
/// Leaves fetches in the memory of `fetches`; null is the host's. The subgraph must be placed and sorted, and remains so.
subgraph insert_copies(subgraph g, const device* fetches = nullptr);

/// A value of a device that lies in host memory between two uses.
struct swapped_value {
    subgraph::value value;
    int leaves = 0,
        returns = 0; // items: before the first, the value is copied to the host; before the second, copied back
    std::vector<std::pair<int, std::size_t>> readers; // the item and the input of each use after it has come back
};

/// Inserts the copies of values to host memory and back; the readers read what has come back. The subgraph must be sorted, and remains
/// so. A value must be computed before the item that it leaves before.
subgraph insert_swaps(subgraph g, std::span<const swapped_value> swaps);

/// Moves copies between the memories of two devices to the front, with the work on devices that leads to them. A device does its work in
/// order: behind work that it does not need, a copy would keep the other device waiting. A copy moves if it overtakes at least four times
/// the work that moves with it, and if the moved values need at most an eighth of the free bytes. All other items keep their order, writes
/// and host code among them. `room` returns the free bytes of a memory. The subgraph must be sorted, and remains so.
subgraph hoist_copies(subgraph g, const cost_model& costs, const std::function<double(const memory_space*)>& room);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/insert_copies.ipp>
#endif
