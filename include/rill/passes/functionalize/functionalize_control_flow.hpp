// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/passes/functionalize/flow_graph.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Makes branches of switches and merges that form them, and loops of frames that do: a loop has one condition, merges of an entering
/// and a coming value, switches by the condition, and leaves what they send out. What is no such form, and all that needs it, becomes
/// one node whose nodes run by frames (runtime/dataflow/dataflow_plan.hpp); so does everything if `regions` is false. Null where nothing is to be
/// said. A branch or a loop within another is made when that one's body is compiled.
std::shared_ptr<const functionalized_graph> functionalize_control_flow(const flow_request& asked, const flow_ops& ops,
                                                                       bool regions);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/functionalize_control_flow.ipp>
#endif
