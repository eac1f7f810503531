// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Inserts a copy wherever a value is needed in another memory: that of its reader's device, or the host's. Fetches and host inputs of
/// ops are needed in host memory. The subgraph must be placed and sorted; it stays so.
subgraph insert_copies(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/insert_copies.ipp>
#endif
