// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The sessions of a worker, and their ends.

#include <rill/distributed/worker.hpp>
#include <rill/distributed/worker.ipp>

#include <algorithm>
#include <new>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void worker::close() noexcept {
    std::map<session_number, std::shared_ptr<session_state>> all;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        all.swap(sessions_);
        timer_ = {};
    }
    const auto why = error_made_by([&] { return unavailable(peers_->self().name + " has stopped"); });
    for (auto& [number, s] : all) end(*s, "its server has stopped", why);
}

/// Ends the steps of a session that was removed from the list. Frees the state that they do not use.
RILL_COLD void worker::end(session_state& gone, const char* state_ends, const std::exception_ptr& why) noexcept {
    gone.resources->end(state_ends);
    std::map<std::uint64_t, std::shared_ptr<registered_part>> parts;
    {
        const std::lock_guard lock(gone.mutex);
        parts.swap(gone.parts);
    }
    for (std::uint64_t next = 0;;) { // one by one: a list of them would need memory
        std::shared_ptr<running_step> s;
        early_values early;
        {
            const std::lock_guard lock(gone.mutex);
            const auto at = gone.steps.lower_bound(next);
            if (at == gone.steps.end()) break;
            next = at->first + 1;
            s = at->second;
            early.swap(s->early);
        }
        for (const auto& e : early) e.reply(nullptr, {});
        if (!s->exchange) continue;
        s->exchange->abort(why); // wakes waits for other tasks
        s->token->cancel();      // and all other waits
    }
    for (auto& [number, p] : parts) p->run->close();
}

RILL_COLD std::shared_ptr<worker::session_state> worker::find(const session_number& number) {
    const std::lock_guard lock(mutex_);
    const auto at = sessions_.find(number);
    if (at == sessions_.end()) return nullptr;
    at->second->used = peers_->runs_in().now();
    return at->second;
}

RILL_COLD std::size_t worker::sessions() const {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
}

/// Watches for sessions that are no longer used.
RILL_COLD void worker::watch() {
    if (sessions_.empty() || watches_) return;
    timer_ = peers_->runs_in().at(peers_->runs_in().now_plus(peers_->health().lease / 2), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->look();
    });
    watches_ = true;
}

/// Asks the masters of idle sessions whether these are open, and closes the others. Their close message may have been lost.
RILL_COLD void worker::look() {
    std::vector<std::pair<session_number, task_identity>> idle;
    {
        const std::lock_guard lock(mutex_);
        watches_ = false;
        if (closed_) return;
        try {
            watch();
        } catch (...) { // once more: nobody else may do it
            watch();
        }
        const auto now = peers_->runs_in().now();
        for (const auto& [number, s] : sessions_)
            if (s->master.name != peers_->self().name && now - s->used > peers_->health().lease)
                idle.emplace_back(number, s->master);
    }
    for (const auto& [number, master] : idle) {
        const auto answered = [weak = weak_from_this(), session = number](const std::exception_ptr& problem,
                                                                         const wire_answer&) {
            const auto self = weak.lock(); // where memory is out, it is asked again
            if (self && problem && code_of(problem) != error_code::resource_exhausted) self->close_session(session);
        };
        try {
            peers_->to(master.name)
                ->call({.method = wire_method::find_session,
                        .session = number,
                        .incarnation = master.incarnation,
                        .deadline = peers_->runs_in().now_plus(peers_->health().control)},
                       answered);
        } catch (const error&) { // not a task of the cluster, or this one is stopping
            answered(std::current_exception(), {});
        }
    }
}

RILL_COLD std::shared_ptr<worker::session_state> worker::find_or_make(const session_number& number, int replica,
                                                                      const task_identity& master) {
    const std::lock_guard lock(mutex_);
    if (closed_) throw unavailable(peers_->self().name + " has stopped");
    const auto known = sessions_.find(number);
    auto there = known == sessions_.end() ? nullptr : known->second;
    if (!there) {
        there = std::make_shared<session_state>(memory_, containers_, replica);
        there->master = master;
        sessions_.emplace(number, there);
    }
    there->used = peers_->runs_in().now();
    watch();
    return there;
}

RILL_COLD std::exception_ptr worker::unknown_session() {
    const auto name = peers_->self().name + " (incarnation " + std::to_string(peers_->self().incarnation) + ")";
    const std::lock_guard lock(mutex_);
    if (closed_) return std::make_exception_ptr(unavailable(name + " has stopped"));
    return std::make_exception_ptr(aborted(name + " does not know the session: it was closed, or the task restarted"));
}

RILL_COLD void worker::close_session(const session_number& session) {
    std::shared_ptr<session_state> gone;
    {
        const std::lock_guard lock(mutex_);
        const auto at = sessions_.find(session);
        if (at == sessions_.end()) return;
        gone = std::move(at->second);
        sessions_.erase(at);
        std::erase_if(closed_sessions_, [](const auto& s) { return s.expired(); });
        try {
            closed_sessions_.push_back(gone);
        } catch (const std::bad_alloc&) { // a fence does not wait for its last steps, which end now
        }
    }
    end(*gone, "", error_made_by([] { return cancelled("the session is closed"); }));
}

}}} // namespace rill::RILL_ABI::detail
