// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the fusion group of each item: the first member of its group, or the item itself. A group of fused nodes runs as one step,
/// block by block, in place of its first member. So everything else that its members need comes before that place. Groups of scalars
/// (spaces of one element) may have any length, and their members need not read one another. `types` are per item and port; `folded`
/// marks items that have their values already. Time and memory grow with the number of edges.
std::vector<int> find_fusion_groups(const subgraph& g, std::span<const std::vector<tensor_type>> types,
                                    std::span<const char> folded);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/fusion_groups.ipp>
#endif
