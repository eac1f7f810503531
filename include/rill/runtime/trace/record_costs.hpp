// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/graph.hpp>
#include <rill/passes/place.hpp>
#include <rill/runtime/trace/trace.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Adds the times of a traced step of a graph to a record. Nodes of a fusion group share its time evenly. Waiting times are omitted. Nodes
/// on devices with their own memory are omitted, since a trace shows only when a kernel was started. Nodes that have moved to another type
/// of device are omitted too, since the step's plan may be older.
void record_costs(cost_record& into, const step_trace& step, const graph_state& of, placement& where);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/trace/record_costs.ipp>
#endif
