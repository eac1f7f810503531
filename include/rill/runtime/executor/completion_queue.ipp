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

RILL_COLD completion completion_queue::defer(stage p, std::function<bool()> give_up) {
    if (!arrivals_) {
        arrivals_ = std::make_shared<arrivals>();
        if (context_.trace) arrivals_->clock = &context_.trace->to;
    }
    started_.push_back({++last_, p, std::move(give_up)});
    return
        [ticket = last_, into = std::weak_ptr(arrivals_)](std::exception_ptr problem, std::vector<any_array> outputs) {
            const auto to = into.lock(); // null: the step has ended
            if (!to) return;
            const std::lock_guard lock(to->mutex);
            to->all.push_back({ticket, to->clock ? to->clock->now() : 0, std::move(problem), std::move(outputs)});
            to->more.notify_one();
        };
}

RILL_COLD completion_queue::~completion_queue() {
    if (!arrivals_ || !context_.trace) return;
    const std::lock_guard lock(arrivals_->mutex);
    arrivals_->clock = nullptr;
}

RILL_COLD completion_queue::stage completion_queue::next() {
    if (ready_.empty()) {
        wait();
        return {};
    }
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

/// Waits for completions and handles them. It checks for cancellation every 10 ms.
RILL_COLD void completion_queue::wait() {
    constexpr auto look = std::chrono::milliseconds(10);
    const auto begin = context_.env().now();
    std::vector<arrival> here;
    for (;;) {
        {
            std::unique_lock lock(arrivals_->mutex);
            if (arrivals_->all.empty()) context_.env().wait(lock, arrivals_->more, look);
            here = std::exchange(arrivals_->all, {});
        }
        if (!here.empty()) break;
        try {
            context_.check();
            check_progress(begin);
        } catch (const error& why) {
            const auto what = waited_for();
            if (give_up()) throw_error(why.code(), std::string(why.what()) + "; it waits for " + what);
        } // otherwise every op has completed, or is completing: no result is lost
    }
    for (auto& a : here) {
        const auto at = detail::find_if(started_, [&](const auto& s) { return s.ticket == a.ticket; });
        if (at == started_.end()) continue;
        const stage p = at->of;
        erase_if(started_, [&](const auto& s) { return s.ticket == a.ticket; });
        came_at_ = a.at;
        p.of->on_completed(p.number, std::move(a.problem), std::move(a.outputs));
    }
}

RILL_COLD void completion_queue::check_progress(environment::time_point since) const {
    if (progress_timeout_ == forever || context_.env().now() - since <= progress_timeout_) return;
    char text[32];
    std::snprintf(text, sizeof text, "%g", std::chrono::duration<double>(progress_timeout_).count());
    throw deadline_exceeded(std::string("nothing has come for ") + text +
                            " s (session_options::progress_timeout) that the step waits for");
}

RILL_COLD std::string completion_queue::waited_for() const {
    std::string text;
    for (const auto& s : started_) text += (text.empty() ? "" : ", ") + s.of.of->place_of_stage(s.of.number);
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
