// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <rill/config.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A value in the arena, alive from the step that computes it to its last use.
struct arena_value {
    std::size_t bytes = 0;
    int first = 0, last = 0;
    std::size_t offset = 0; // set by plan_arena
};

/// Assigns offsets, so that values alive at once do not overlap. Takes the best of several strategies. Returns the arena's size.
std::size_t plan_arena(vector<arena_value>& values);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/memory_plan.ipp>
#endif
