// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <rill/passes/insert_copies.hpp>
#include <rill/runtime/segment/bound_graph.hpp>

// The choice of values that leave the memory of a device while a step does not need them.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns values whose absence between two uses keeps the values of a memory within `most` bytes at any time. Those of many bytes that are
/// long unused come first. Returns none if that is not possible.
std::vector<swapped_value> find_swaps(const bound_graph& b, const memory_space& space, std::size_t most);

/// Returns a step that fits into the free memory of all its devices, with copies to host memory and back if it must. If that is not possible,
/// returns the step as it was. `bind` binds a changed subgraph.
bound_graph fit_memory(bound_graph b, const std::function<bound_graph(const subgraph&)>& bind);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/swap_plan.ipp>
#endif
