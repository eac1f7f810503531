// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/passes/bundle_edges.hpp>
#include <rill/passes/cost_model.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Lets Receives of large values begin as late as pays, as in TensorFlow's white paper. A simulated run gives the times at which a value comes
/// and is first read, and the peak of each part's memory. A value that lies unread at the peak comes later: after the last item of the part
/// that ends before its first reader begins. This takes one more stage. It is done only where it lowers the peak by more than a tenth, and
/// makes the run no longer. The subgraph, of a run with sends and receives, is ordered and sorted; so is the result.
subgraph schedule_receives(subgraph g, const std::vector<cross_edge>& edges, const cost_model& costs = {});

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/schedule_receives.ipp>
#endif
