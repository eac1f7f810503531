// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/device/kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class frames_plan;

/// One run of it: see frames_plan::run. Each step looks whether the run is to end.
std::vector<any_array> run_by_frames(const frames_plan& p, std::span<const any_array> feeds,
                                     const step_context& context);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/frames_run.ipp>
#endif
