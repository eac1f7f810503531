// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/hash_map.hpp>
#include <rill/graph/scope.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Nodes that may lead from xs to ys, in order of creation (which is a topological order): what the ys depend on, as far as the stop
/// nodes and the oldest x.
std::vector<const node*> nodes_between(std::span<const endpoint> xs, std::span<const endpoint> ys,
                                       const hash_set<const node*>& stop);

} // namespace detail

/// Adds the nodes that compute d(sum of ys)/dx for each x, and returns them; empty where no x reaches a y. Each node is
/// visited once, in reverse order of creation, without recursion. `seeds` are the gradients of the ys (ones where empty).
std::vector<endpoint> add_gradients(std::span<const endpoint> ys, std::span<const endpoint> xs,
                                    std::span<const endpoint> seeds, std::span<const endpoint> stop,
                                    const gradient_ops& ops);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/gradients.ipp>
#endif
