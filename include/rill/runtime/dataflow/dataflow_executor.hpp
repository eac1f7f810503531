// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include <rill/runtime/executor/nested_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class dataflow_plan;

/// Returns a run of the plan, whose results are the fetches in order. Each node checks for cancellation; a waiting node does not block
/// others. A dead fetch throws invalid_argument; two live inputs of a merge throw `internal`.
std::unique_ptr<nested_run> make_dataflow_executor(const dataflow_plan& p, std::span<const any_array> feeds);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/dataflow/dataflow_executor.ipp>
#endif
