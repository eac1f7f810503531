// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Of nodes that run the same bodies and give more or less of them, the one that gives most runs for all: what they do to variables
/// is done once, and what they draw is drawn once.
subgraph cse_region_ops(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/cse_region_ops.ipp>
#endif
