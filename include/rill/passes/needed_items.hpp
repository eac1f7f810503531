// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if item `i` only computes its outputs, and runs no bodies.
bool is_pure(const subgraph& g, int i);

/// Returns for each item of a sorted subgraph whether a run needs it. A pure item is not needed if others read it for its shape only.
/// `shape_only` holds item::shape_only_inputs() of each item.
std::vector<char> needed_items(const subgraph& g, std::span<const input_list> shape_only);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/needed_items.ipp>
#endif
