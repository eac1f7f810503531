// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Puts a copy wherever a value is needed in another memory than it lies in: of its reader's device, or the host's (for what
/// an op reads there, and for fetches). Of a subgraph that is placed and sorted; it stays so.
subgraph insert_copies(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/insert_copies.ipp>
#endif
