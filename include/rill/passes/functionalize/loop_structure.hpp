// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <rill/passes/functionalize/region_builder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the frame that a node takes its inputs from. For a leave, this is the loop that it leaves.
int frame_of_inputs(const flow_graph& g, const node* n);

/// The parts of a loop that becomes a While: one condition, merges of an initial and a loop-carried value, switches by the condition,
/// and leaves of the switches.
struct loop_structure {
    std::vector<const node*> merges, leaves;
    std::vector<region_builder> bodies; // condition, then body
};

/// Returns the parts of the outermost loop `frame`, which has these nodes. Returns nothing if the loop has another form. Returns
/// nothing, too, if its body draws or writes before the condition is known.
std::optional<loop_structure> find_loop(const flow_graph& g, int frame, const std::vector<const node*>& nodes);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/loop_structure.ipp>
#endif
