// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/hash_map.hpp>
#include <rill/graph/scope.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the nodes that may lie on paths from xs to ys, in order of creation (a topological order). The walk starts at the ys and
/// ends at stop nodes and at nodes older than the oldest x.
std::vector<const node*> nodes_between(std::span<const endpoint> xs, std::span<const endpoint> ys,
                                       const hash_set<const node*>& stop);

} // namespace detail

/// Adds the nodes that compute d(sum of ys)/dx for each x, and returns these gradients; null if x reaches no y. Visits each node once,
/// in reverse order of creation, without recursion. `seeds` are the gradients of the ys; a null one means ones. Throws unimplemented
/// at an op without a gradient.
std::vector<endpoint> add_gradients(std::span<const endpoint> ys, std::span<const endpoint> xs,
                                    std::span<const endpoint> seeds, std::span<const endpoint> stop,
                                    const gradient_ops& ops);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/gradients.ipp>
#endif
