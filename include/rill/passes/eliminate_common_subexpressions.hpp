// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Merges pure items that have equal ops, inputs, control inputs and devices: the first one is kept. Runs after feeds have cut edges:
/// nodes that differ only by name merge, fed ones don't.
subgraph eliminate_common_subexpressions(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/eliminate_common_subexpressions.ipp>
#endif
