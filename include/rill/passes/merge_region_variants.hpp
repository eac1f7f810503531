// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

/// Merges the variants of a region op: only the one with the most results runs, and the others read from it. So its bodies write
/// variables and draw random numbers once.
subgraph merge_region_variants(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/merge_region_variants.ipp>
#endif
