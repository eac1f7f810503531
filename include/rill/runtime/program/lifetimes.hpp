// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include <rill/runtime/program/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A step's output that may take the place of an input which ends with it.
struct shared_place {
    std::size_t step;
    subgraph::value input, output;
};

/// Finds how long each value of a bound graph lives, and its place in the arena of a step. While strands run beside one another
/// a value lives as long as the stretch, unless one strand alone uses it.
void plan_memory(bound_graph& b, std::span<const shared_place> may_share);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/program/lifetimes.ipp>
#endif
