// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/measured_run.hpp>

#include <exception>
#include <utility>

#include <rill/core/shared.hpp>
#include <rill/runtime/trace/record_costs.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD measured_run::measured_run(std::shared_ptr<prepared_run> of, rill::graph g,
                                     std::shared_ptr<local_session_state> session)
    : of_(std::move(of)), graph_(std::move(g)), session_(std::move(session)) {}

RILL_COLD step_result measured_run::run(std::span<const any_array> feeds, std::span<const fetch_place> places,
                                        const run_options* how) {
    step_trace own;
    run_options traced = how ? *how : run_options();
    if (!traced.trace) {
        if (!is_next_traced()) return of_->run(feeds, places, how);
        traced.trace = &own;
    }
    auto result = of_->run(feeds, places, &traced);
    record(*traced.trace);
    return result;
}

RILL_COLD void measured_run::start(std::vector<any_array> feeds, const run_options& how, completion done) {
    std::shared_ptr<step_trace> own;
    run_options traced = how;
    if (!traced.trace) {
        if (!is_next_traced()) return of_->start(std::move(feeds), how, std::move(done));
        own = detail::make_shared<step_trace>();
        traced.trace = own.get();
    }
    of_->start(std::move(feeds), traced,
               [self = shared_from_this(), own, step = traced.trace,
                done = std::move(done)](std::exception_ptr problem, std::vector<any_array> values) {
                   if (!problem) self->record(*step);
                   done(std::move(problem), std::move(values));
               });
}

RILL_COLD void measured_run::record(const step_trace& step) noexcept {
    try {
        record_costs(*session_->where->costs(), step, graph_.state(), *session_->where);
    } catch (...) { // out of memory: the step itself has succeeded
    }
}

RILL_COLD std::string measured_run::memory_report() { return of_->memory_report(); }
RILL_COLD void measured_run::close() noexcept { of_->close(); }
RILL_COLD std::vector<run_part> measured_run::parts() const { return of_->parts(); }

}}} // namespace rill::RILL_ABI::detail
