// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/run_plan.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/runtime/absent_value.hpp>
#include <rill/runtime/dataflow/dataflow_executor.hpp>
#include <rill/runtime/dynamic_runtime.hpp>
#include <rill/runtime/executor/step_executor.hpp>
#include <rill/runtime/plan/plan.hpp>
#include <rill/runtime/tensor_list.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::unique_ptr<nested_run> nested_run_of(plan& p, std::span<const any_array> feeds) {
    if (p.is_dataflow()) return make_dataflow_executor(*p.is_dataflow(), feeds);
    if (detail::any_of(feeds, [](const any_array& f) { return is_tensor_list(f.type()) || f.empty(); })) p.use_stages();
    return p.is_staged() ? std::make_unique<step_executor>(*p.is_staged(), feeds) : nullptr;
}

RILL_COLD std::vector<any_array> run_plan(plan& p, std::span<const any_array> feeds, const step_context* context) {
    std::vector<any_array> filled;
    if (detail::any_of(feeds, [](const any_array& f) { return f.empty(); })) {
        filled.assign(feeds.begin(), feeds.end());
        for (std::size_t i = 0; i < filled.size(); ++i)
            if (filled[i].empty()) filled[i] = stand_in(type_of(p.graph().feeds[i]), p.feed_space(i));
        feeds = filled;
    }
    if (!p.is_staged())
        for (const auto& f : feeds) refuse_tensor_lists({&f.type(), 1});
    struct holder {
        plan& of;
        std::unique_ptr<execution_state> step;
        ~holder() { of.release(std::move(step)); }
    } held{p, p.acquire(feeds)};
    // only if binding has just switched the plan to stages; none of its nodes waits
    p.run(*held.step, context ? *context : no_step);
    return p.fetched_values(*held.step);
}

}}} // namespace rill::RILL_ABI::detail
