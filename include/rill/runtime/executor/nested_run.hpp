// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <rill/runtime/executor/completion_queue.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;

/// A run of a plan whose nodes may wait, to be part of another; null of other plans.
std::unique_ptr<nested_run> nested_run_of(plan& p, std::span<const any_array> feeds);

/// Runs another plan on its own; the values are the caller's.
std::vector<any_array> run_plan(plan& p, std::span<const any_array> feeds, const step_context* context);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/nested_run.ipp>
#endif
