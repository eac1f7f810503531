// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/vector.hpp>
#include <rill/runtime/segment/bound_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Finds the ranges of steps that a device can capture (memory_space::capture). A replay starts the same kernels with the same arguments: a
/// step is in a range if what changes from run to run reaches its kernels by addresses alone.
///
/// - Its inputs and results lie in the memory of its device, or are constants. A number that host code reads is neither.
/// - It has no bodies, and the host need not read error records before it.
/// - It is pure, or writes a variable, or draws random numbers from the stream in the memory of the device.
/// - It is not a copy between memories, and runs in no window of parallel lanes.
vector<bound_graph::captured_range> find_captured_ranges(const bound_graph& b);

/// Returns the steps of a body that a device can capture for a loop that runs without the host: all of them, but for a copy of the only fetch
/// to the host at the end. They use no variables and no random numbers, since the host brings these to each run.
bound_graph::whole find_whole_capture(const bound_graph& b);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/segment/captured_ranges.ipp>
#endif
