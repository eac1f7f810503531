// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/executor/completion_queue.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/error.hpp>
#include <rill/runtime/options.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void completion_queue::arrivals::add(arrival a) {
    {
        const std::lock_guard lock(mutex);
        if (clock) a.at = clock->now();
        all.push_back(std::move(a));
        if (!wakes()) return;
    }
    resume();
}

RILL_COLD void completion_queue::arrivals::check() {
    {
        const std::lock_guard lock(mutex);
        checks = true;
        if (!wakes()) return;
    }
    resume();
}

/// The caller holds the mutex.
RILL_COLD bool completion_queue::arrivals::wakes() {
    if (event) event->notify();
    return !event && std::exchange(awaited, false);
}

RILL_COLD completion completion_queue::defer(stage p, std::function<bool()> give_up,
                                             std::function<std::string()> awaited) {
    if (!arrivals_) {
        arrivals_ = std::make_shared<arrivals>();
        arrivals_->resume = resume_;
        if (!resume_) arrivals_->event = context_.env().make_signal();
        if (context_.trace) arrivals_->clock = &context_.trace->to;
    }
    started_.push_back({++last_, p, std::move(give_up), std::move(awaited)});
    {
        const std::lock_guard lock(arrivals_->mutex);
        arrivals_->all.reserve(started_.size());
    }
    return
        [ticket = last_, into = std::weak_ptr(arrivals_)](std::exception_ptr problem, std::vector<any_array> outputs) {
            if (const auto to = into.lock()) // null: the step has ended
                to->add({ticket, 0, std::move(problem), std::move(outputs)});
        };
}

RILL_COLD completion_queue::~completion_queue() {
    if (!arrivals_ || !context_.trace) return;
    const std::lock_guard lock(arrivals_->mutex);
    arrivals_->clock = nullptr;
}

RILL_COLD completion_queue::stage completion_queue::next() {
    if (ready_.empty()) return {};
    context_.check();
    std::swap(ready_[context_.env().choose(ready_.size())], ready_.back());
    const stage p = ready_.back();
    ready_.pop_back();
    return p;
}

RILL_COLD std::vector<completion_queue::stage> completion_queue::take(std::size_t most,
                                                                      const std::function<bool(const stage&)>& wanted) {
    std::vector<stage> taken;
    for (auto i = ready_.size(); i-- > 0 && taken.size() < most;)
        if (wanted(ready_[i])) {
            taken.push_back(ready_[i]);
            ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    for (auto n = taken.size(); n > 1; --n) std::swap(taken[context_.env().choose(n)], taken[n - 1]);
    return taken;
}

RILL_COLD bool completion_queue::wait_for_completions() {
    std::vector<arrival> here;
    while (here.empty()) {
        listen();
        here.reserve(started_.size());
        {
            std::unique_lock lock(arrivals_->mutex);
            if (arrivals_->all.empty() && !arrivals_->checks) {
                if (resume_) {
                    arrivals_->awaited = true;
                    return false; // from here on another thread may run the step
                }
                arrivals_->event->wait(lock, next_limit());
            }
            here.swap(arrivals_->all); // later completions have room
            arrivals_->checks = false;
        }
        if (here.empty()) check_limits();
    }
    waits_ = given_up_ = false;
    for (auto& a : here) {
        const auto at = detail::find_if(started_, [&](const auto& s) { return s.ticket == a.ticket; });
        if (at == started_.end()) continue;
        const stage p = at->of;
        erase_if(started_, [&](const auto& s) { return s.ticket == a.ticket; });
        came_at_ = a.at;
        p.of->on_completed(p.number, std::move(a.problem), std::move(a.outputs));
    }
    return true;
}

/// Registers the step for cancellation and, unless it blocks its thread, for its time limits.
RILL_COLD void completion_queue::listen() {
    auto& env = context_.env();
    const auto check = [to = std::weak_ptr(arrivals_)] {
        if (const auto waiting = to.lock()) waiting->check();
    };
    if (!std::exchange(waits_, true)) progress_limit_ = env.now_plus(progress_timeout_);
    if (!std::exchange(listens_, true)) {
        if (context_.session) session_ = context_.session->on_cancel(check);
        if (context_.token) token_ = context_.token->on_cancel(check);
        if (resume_ && context_.deadline != time_point::max()) deadline_ = env.at(context_.deadline, check);
    }
    // one timer serves many short waits: it is set again only after it has fired
    if (resume_ && progress_limit_ != time_point::max() && progress_at_ <= env.now()) {
        progress_at_ = progress_limit_;
        progress_ = env.at(progress_at_, check);
    }
}

/// Throws if the step must not wait any longer. Does not throw if every op has completed or is completing, since no
/// result is lost then.
RILL_COLD void completion_queue::check_limits() {
    if (given_up_) return;
    try {
        context_.check();
        if (context_.env().now() >= progress_limit_) {
            char text[32];
            std::snprintf(text, sizeof text, "%g", std::chrono::duration<double>(progress_timeout_).count());
            throw deadline_exceeded(std::string("nothing has come for ") + text +
                                    " s (session_options::progress_timeout) that the step waits for");
        }
    } catch (const error& why) {
        const auto what = waited_for();
        if (give_up()) throw_error(why.code(), std::string(why.what()) + "; it waits for " + what);
        given_up_ = true;
    }
}

RILL_COLD std::string completion_queue::waited_for() const {
    std::string text;
    for (const auto& s : started_) {
        text += (text.empty() ? "" : ", ") + s.of.of->place_of_stage(s.of.number);
        if (s.awaited) text += " (" + s.awaited() + ")";
    }
    return text;
}

RILL_COLD bool completion_queue::give_up() noexcept {
    bool any = false;
    erase_if(started_, [&](const auto& s) {
        const bool gone = !s.give_up || s.give_up();
        any = any || gone;
        return gone;
    });
    return any;
}

}}} // namespace rill::RILL_ABI::detail
