// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/posted_step.hpp>

#include <exception>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void posted_step::post() {
    const auto self = shared_from_this();
    if (gate_) gate_->enter();
    try {
        asked_.context.env().post([self] { self->begin_or_resume(); });
    } catch (...) {
        if (has_begun_) {
            begin_or_resume(); // here: otherwise nobody would resume it
            return;
        }
        if (gate_) gate_->leave();
        throw;
    }
}

RILL_COLD void posted_step::begin_or_resume() noexcept {
    struct activity { // ends last: `done` may start the next step
        std::shared_ptr<step_gate> gate;
        ~activity() {
            if (gate) gate->leave();
        }
    };
    const activity until_end{gate_};
    std::exception_ptr problem;
    std::vector<any_array> values;
    try {
        if (has_begun_) {
            if (!drive()) return; // the step waits: another thread may have resumed it already
        } else {
            asked_.context.check();
            if (asked_.trace) traced_.emplace(*asked_.trace, asked_.context);
            has_begun_ = true; // set first: another thread may resume the step before begin returns
            if (!begin(asked_.context, [self = shared_from_this()] { self->post(); })) return;
        }
        values = fetched();
    } catch (...) {
        problem = std::current_exception();
    }
    end();
    traced_.reset();
    const auto done = std::move(asked_.done);
    done(problem, std::move(values));
}

}}} // namespace rill::RILL_ABI::detail
