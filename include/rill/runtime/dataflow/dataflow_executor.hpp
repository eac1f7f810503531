// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include <rill/runtime/executor/completion_queue.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class dataflow_plan;

/// A run of it: what was asked for, in order. Each node looks whether the run is to end; one that waits holds nothing else up. A dead value
/// is invalid_argument, two live inputs of a merge are internal.
std::unique_ptr<nested_run> make_dataflow_executor(const dataflow_plan& p, std::span<const any_array> feeds);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/dataflow/dataflow_executor.ipp>
#endif
