// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <rill/passes/functionalize/flow_graph.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Replaces control-flow primitives by functional ops: switches and merges by a Case, frames by a While. A While has one condition,
/// merges of a first and a loop-carried value, switches by the condition, and their leaves. All other primitives, and the nodes that
/// depend on them, become one node on the dataflow executor (runtime/dataflow/dataflow_plan.hpp). If `regions` is false, this holds for
/// all primitives. Returns null if the request has neither primitives nor a `part`. Primitives nested in a body are replaced when that
/// body is compiled.
std::shared_ptr<const functionalized_graph> functionalize_control_flow(const flow_request& asked, const flow_ops& ops,
                                                                       bool regions);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/functionalize_control_flow.ipp>
#endif
