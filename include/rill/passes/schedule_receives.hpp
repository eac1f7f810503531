// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <rill/passes/bundle_edges.hpp>
#include <rill/passes/cost_model.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Delays Receives of large values as long as this pays, as in TensorFlow's white paper. A simulated run gives each value's times of
/// arrival and first read, and the peak of each part's memory. A value that is unread at the peak is received later: after the part's
/// last item that ends before its first reader begins. This adds a stage. It is done only if it lowers the peak by more than a tenth and
/// does not lengthen the run. The input is the ordered and sorted subgraph of a run with sends and receives, and so is the result.
subgraph schedule_receives(subgraph g, const std::vector<cross_edge>& edges, const cost_model& costs = {});

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/schedule_receives.ipp>
#endif
