// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/session/local_session_state.hpp>

#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void local_session_state::refuse_closed(const plan_key* asked) const {
    const std::string why = resources->why_ended();
    std::string text = "the session is closed" + at_place(closed_at) + (why.empty() ? "" : ": " + why);
    const node* const first = !asked                    ? nullptr
                              : !asked->fetches.empty() ? asked->fetches[0].from
                              : !asked->targets.empty() ? asked->targets[0]
                                                        : nullptr;
    if (first) text += "; asked for '" + first->name + "' (made at " + to_string(first->where) + ")";
    throw cancelled(text);
}

RILL_COLD posted_step::request local_session_state::request_of(const std::shared_ptr<local_session_state>& session,
                                                               const run_options& how, completion done) {
    auto end = [session, done = std::move(done)](std::exception_ptr problem, std::vector<any_array> values) {
        if (problem && session->closed()) try {
                session->refuse_closed(nullptr);
            } catch (...) {
                problem = std::current_exception();
            }
        done(problem, std::move(values));
    };
    return {.context = session->context_of(how), .trace = how.trace, .done = std::move(end)};
}

RILL_COLD step_context local_session_state::context_of(const run_options& how) const {
    step_context made = context;
    if (how.cancel) made.token = how.cancel->state().get();
    made.gate = how.gate;
    if (how.timeout != forever) made.deadline = made.env().now_plus(how.timeout);
    return made;
}

}}} // namespace rill::RILL_ABI::detail
