// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include <rill/runtime/segment/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A step's output that may reuse the memory of an input whose lifetime ends there.
struct shared_place {
    std::size_t step;
    subgraph::value input, output;
};

/// Computes the lifetime of each value, and its offset in the arena of a step. In a window of parallel lanes, a value used by several
/// lanes lives as long as the window.
void plan_memory(bound_graph& b, std::span<const shared_place> may_share);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/lifetimes.ipp>
#endif
