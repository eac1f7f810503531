// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/cost_model.hpp>

namespace rill { inline namespace RILL_ABI {

class placement;

/// Chooses devices by a simulated run, as in TensorFlow's white paper, for nodes that have none and request none. The item with the
/// longest path to the end is next. It goes to the device where it ends first; the first device wins a tie. Devices with full memory are
/// left out. Nodes that share state or are colocated go together to a device that can run all of them. With measured costs, it chooses
/// again for nodes that pass placement::may_move. The subgraph must be pruned and sorted.
void place_by_cost(const subgraph& g, placement& where, const cost_model& costs = {});

/// Returns the time of a simulated run of a placed and sorted subgraph, in microseconds. A device runs one item at a time.
double simulated_microseconds(const subgraph& g, const cost_model& costs = {});

}} // namespace rill::RILL_ABI

#include <rill/passes/place.hpp> // behind the declarations, since its definitions call them

#if !RILL_COMPILED
#include <rill/passes/place_by_cost.ipp>
#endif
