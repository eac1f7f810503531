// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/step_run.hpp>

#include <utility>

#include <rill/core/shared.hpp>
#include <rill/runtime/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void step_run::start(std::shared_ptr<plan> of, std::vector<any_array> feeds, request r) {
    detail::make_shared<step_run>(std::move(of), std::move(feeds), std::move(r))->post();
}

RILL_COLD bool step_run::begin(const step_context& context, std::function<void()> resume) {
    state_ = of_->acquire(feeds_);
    if (!state_->is_staged) {
        of_->run(*state_, context);
        return true;
    }
    of_->control().start(*state_->is_staged, context, std::move(resume));
    return drive();
}

RILL_COLD bool step_run::drive() { return of_->control().drive(*state_->is_staged); }

RILL_COLD std::vector<any_array> step_run::fetched() { return of_->fetched_values(*state_); }

RILL_COLD void step_run::end() noexcept {
    if (state_) of_->release(std::move(state_));
    of_ = nullptr;
}

}}} // namespace rill::RILL_ABI::detail
