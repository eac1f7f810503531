// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <rill/core/error.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {
class functionalized_graph;
}

/// Takes from a graph what the fetches and targets need. A fed edge cuts the graph: nothing before it is taken for its
/// sake. Items come in the nodes' order of creation, feeds first. Of a body (`within`), what it takes from outside is fed, but for
/// constants and for the variables that it writes; what it waits for outside has run before. With `flow`, which stands in for
/// primitives of control flow, nodes come in no order.
subgraph prune(std::span<const endpoint> fetches, std::span<const node* const> targets, std::span<const endpoint> feeds,
               const region* within = nullptr, const detail::functionalized_graph* flow = nullptr);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/prune.ipp>
#endif
