// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/step_run.hpp>

#include <exception>
#include <utility>

#include <rill/core/shared.hpp>
#include <rill/runtime/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void step_run::start(request r) { detail::make_shared<step_run>(std::move(r))->post(); }

RILL_COLD void step_run::post() {
    asked_.context.env().post([self = shared_from_this()] { self->go_on(); });
}

RILL_COLD void step_run::go_on() noexcept {
    std::exception_ptr problem;
    std::vector<any_array> values;
    try {
        if (!drive()) return; // it waits: another thread may have gone on already
        values = asked_.of->fetched_values(*state_);
    } catch (...) {
        problem = std::current_exception();
    }
    // a step in stages holds its way back to here: this breaks the circle
    if (state_) asked_.of->release(std::move(state_));
    traced_.reset();
    const auto done = std::move(asked_.done);
    asked_.of = nullptr;
    done(problem, std::move(values));
}

RILL_COLD bool step_run::drive() {
    auto& context = asked_.context;
    if (!state_) {
        context.check();
        if (asked_.trace) traced_.emplace(*asked_.trace, context);
        state_ = asked_.of->acquire(asked_.feeds);
        if (!state_->is_staged) {
            asked_.of->run(*state_, context);
            return true;
        }
        asked_.of->control().start(*state_->is_staged, context, [self = shared_from_this()] { self->post(); });
    }
    return asked_.of->control().drive(*state_->is_staged);
}

}}} // namespace rill::RILL_ABI::detail
