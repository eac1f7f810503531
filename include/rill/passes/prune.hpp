// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <rill/core/error.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {
class functionalized_graph;
}

/// Returns the part of a graph that the fetches and targets need. A fed edge cuts the graph: nodes that only this edge needs are left
/// out. Items come in order of creation, feeds first. For a region (`within`), captures are fed, except constants and the variables
/// that it writes. Control inputs outside the region are dropped: they have already run. With `flow`, which replaces control-flow
/// primitives, items are not in topological order.
subgraph prune(std::span<const endpoint> fetches, std::span<const node* const> targets, std::span<const endpoint> feeds,
               const region* within = nullptr, const detail::functionalized_graph* flow = nullptr);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/prune.ipp>
#endif
