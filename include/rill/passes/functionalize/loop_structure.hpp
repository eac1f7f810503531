// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <rill/passes/functionalize/region_builder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The frame that a node takes its inputs from: a leave belongs to the loop that it leaves.
int frame_of_inputs(const flow_graph& g, const node* n);

/// The parts of a loop that becomes a While: one condition, merges of an entering and a coming value, switches by the condition, and
/// leaves of what the switches send out.
struct loop_structure {
    std::vector<const node*> merges, leaves;
    std::vector<region_builder> bodies; // condition, then body
};

/// Returns the parts of the outermost loop `frame`, of its nodes; nothing if it has no such form, or if its body draws or writes before
/// the condition is known.
std::optional<loop_structure> find_loop(const flow_graph& g, int frame, const std::vector<const node*>& nodes);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/loop_structure.ipp>
#endif
