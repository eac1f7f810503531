// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inserts a copy wherever a value is needed in another memory: that of its reader's device, or the host's (subgraph::item::input_device).
/// Leaves fetches in the memory of `fetches`; null is the host's. The subgraph must be placed and sorted, and remains so.
subgraph insert_copies(subgraph g, const device* fetches = nullptr);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/insert_copies.ipp>
#endif
