// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Which fused nodes run as one step, block by block: of each item the first of its chain, or itself. A chain runs where its
/// first node stands, so all else that its nodes need comes before that. Nodes over one element are a chain of any length, and
/// need not read one another. `types` per item and port; `folded` items have their values already. Time and memory grow with the number of
/// edges.
std::vector<int> find_chains(const subgraph& g, std::span<const std::vector<tensor_type>> types,
                             std::span<const char> folded);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/fusion_groups.ipp>
#endif
