// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <rill/runtime/executor/nested_run.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;

/// Returns a nested run of a plan with dynamic nodes; null for other plans.
std::unique_ptr<nested_run> nested_run_of(plan& p, std::span<const any_array> feeds);

/// Runs a plan to its end, and returns copies of its results, each in the memory where the result lies.
std::vector<any_array> run_plan(plan& p, std::span<const any_array> feeds, const step_context* context);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/run_plan.ipp>
#endif
