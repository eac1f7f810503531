// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The fence of a task: it keeps out steps of other sessions while one session replaces the state.

#include <rill/distributed/worker.hpp>
#include <rill/distributed/worker.ipp>

#include <utility>

#include <rill/distributed/joined_answers.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::exception_ptr worker::fence_problem(const session_number& session) const {
    const std::lock_guard lock(mutex_);
    if (!fenced_by_ || *fenced_by_ == session) return nullptr;
    return std::make_exception_ptr(aborted(
        peers_->self().name +
        ": another session restores or initialises the variables; if it never ends, session::reset lets others in again"));
}

RILL_COLD void worker::fence(const session_number& by, bool closes, std::function<void()> done) {
    std::vector<std::shared_ptr<session_state>> others;
    {
        const std::lock_guard lock(mutex_);
        if (closes && sessions_.contains(by)) {
            fenced_by_ = by;
            for (const auto& [number, s] : sessions_)
                if (number != by) others.push_back(s);
            for (const auto& s : closed_sessions_)
                if (auto runs = s.lock()) others.push_back(std::move(runs));
        } else if (fenced_by_ == by) { // a late close by a session that has ended has no effect
            fenced_by_.reset();
        }
    }
    const auto all =
        std::make_shared<joined_answers>([done = std::move(done)](const std::exception_ptr&) { done(); });
    const auto why =
        std::make_exception_ptr(aborted(peers_->self().name + ": another session restores or initialises the variables"));
    for (const auto& s : others) {
        std::vector<std::shared_ptr<running_step>> running;
        {
            const std::lock_guard lock(s->mutex);
            for (const auto& [number, part] : s->parts) part->is_stale = true;
            for (const auto& [number, step] : s->steps) {
                if (!step->exchange) continue; // its part is stale: it will not begin
                if (!step->problem) step->problem = why;
                step->awaited.push_back(all->next());
                running.push_back(step);
            }
        }
        for (const auto& step : running) {
            step->exchange->abort(why); // wakes waits for other tasks
            step->token->cancel();      // and all other waits
        }
    }
    all->close();
}

RILL_COLD void worker::reset(const std::vector<std::string>& containers) {
    {
        const std::lock_guard lock(mutex_);
        fenced_by_.reset();
    }
    containers_->reset(containers);
}

}}} // namespace rill::RILL_ABI::detail
