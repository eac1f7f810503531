// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ends of calls that have no answer, and of a channel.

#include <rill/distributed/channel.hpp>

#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Fails a call that an exception has stopped halfway. The lock is not held.
RILL_COLD void channel::fail_one(std::uint64_t number, const std::exception_ptr& why, actions& todo) {
    try {
        const std::lock_guard lock(mutex_);
        if (const auto at = calls_.find(number); at != calls_.end()) fail(at, why, todo);
    } catch (...) {
        break_down(why);
    }
}

RILL_COLD void channel::break_down(const std::exception_ptr& why) noexcept {
    calls gone;
    transport::connection was = 0, was_for_data = 0;
    {
        const std::lock_guard lock(mutex_);
        gone.swap(calls_);
        due_.clear();
        for (auto* queue : {&controls_, &values_, &long_values_}) queue->clear();
        values_out_ = long_values_out_ = pushes_out_ = 0;
        chunks_ = {};
        outbox_.clear();
        timer_ = {};
        ticks_at_ = time_point::max();
        link_ = link::idle;
        was = std::exchange(connection_, 0);
        was_for_data = std::exchange(data_.at, 0);
        data_.state = link::idle;
        data_.losses = 0;
    }
    if (was) net_->disconnect(was);
    if (was_for_data) net_->disconnect(was_for_data);
    for (const auto& [number, p] : gone) tell(p.done, why, {});
}

RILL_COLD void channel::close(const std::exception_ptr& why) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        closed_ = why;
    }
    break_down(why);
}

RILL_COLD channel::calls::iterator channel::remove(calls::iterator at) {
    const auto& [number, p] = *at;
    if (p.sent_to && p.is_push) {
        (p.is_long ? long_values_out_ : values_out_) -= p.bytes;
        --pushes_out_;
    }
    if (p.is_long) chunks_.erase(number);
    due_.erase({p.due, number});
    return calls_.erase(at);
}

RILL_COLD channel::calls::iterator channel::fail(calls::iterator at, const std::exception_ptr& why, actions& todo) {
    todo.failures.emplace_back(std::move(at->second.done), why);
    const bool has_part = at->second.answer != nullptr;
    const auto number = at->first;
    const auto next = remove(at);
    if (has_part) send_short(wire_type::grant, number); // the peer need not keep the rest of the answer
    return next;
}

RILL_COLD void channel::fail_all(const std::exception_ptr& why, actions& todo) {
    for (auto at = calls_.begin(); at != calls_.end();) at = fail(at, why, todo);
}

}}} // namespace rill::RILL_ABI::detail
