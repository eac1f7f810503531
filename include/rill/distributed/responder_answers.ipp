// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ends of requests: answers, cancellations, and callers that become silent; the end of the responder.

#include <rill/distributed/responder.hpp>

#include <algorithm>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void responder::close() noexcept {
    std::map<caller_key, caller> callers;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(closed_, true)) return;
        callers.swap(callers_);
        timer_ = {};
    }
    for (const auto& [key, c] : callers) {
        wire_message m;
        m.head.type = wire_type::goodbye;
        m.head.sender = self_.incarnation;
        m.head.receiver = key.first;
        send(c.last, std::move(m));
    }
    for (const auto& [key, c] : callers)
        for (const auto& [number, r] : c.running) r.given_up->cancel();
}

/// Sends a message. If memory is out, it counts as lost on its way.
RILL_COLD void responder::send(transport::connection to, wire_message m) noexcept {
    try {
        net_->send(to, pack_message(std::move(m), net_->needs_checksums()));
    } catch (...) {}
}

RILL_COLD std::shared_ptr<cancellation> responder::settle(caller& by, std::uint64_t request) noexcept {
    std::shared_ptr<cancellation> gone;
    if (const auto at = by.incomplete.find(request); at != by.incomplete.end()) (void)remove(by, at);
    if (const auto at = by.running.find(request); at != by.running.end()) {
        gone = std::move(at->second.given_up);
        by.running.erase(at);
    }
    by.chunks.erase(request);
    by.answers.record(request, {}); // which says that there is none
    return gone;
}

RILL_COLD void responder::react(transport::connection from, transport::connection chunks_to, reaction& to) noexcept {
    for (auto& s : to.sends) {
        if (s.head.type == wire_type::pong && progress_) try {
                s.meta = bytes_of_meta(progress_());
            } catch (...) { // it is a sign of life all the same
            }
        const auto there = s.head.type == wire_type::chunk ? chunks_to : from;
        send(there, std::move(s));
    }
    for (auto& a : to.again) try {
            net_->send(from, std::move(a));
        } catch (...) { // its caller asks again
        }
    if (to.run) try {
            to.run();
        } catch (...) {
            note_handled("an exception of a function that serves a request");
        }
}

/// Cancels a request that its caller has given up. `is_lost`: the caller became silent instead of cancelling.
RILL_COLD void responder::give_up(const caller_key& of, std::uint64_t request, bool is_lost) {
    std::shared_ptr<cancellation> runs;
    bool was_incomplete = false;
    {
        const std::lock_guard lock(mutex_);
        const auto by = callers_.find(of);
        if (by == callers_.end()) return;
        if (const auto at = by->second.running.find(request); at != by->second.running.end()) {
            runs = at->second.given_up;
            at->second.is_lost |= is_lost && !runs->is_cancelled();
        }
        if (const auto at = by->second.incomplete.find(request); at != by->second.incomplete.end()) {
            was_incomplete = true;
            remove(by->second, at);
        }
    }
    if (runs) runs->cancel();
    if (was_incomplete)
        answer(of, request,
               error_made_by([] { return cancelled("the request was given up before its payload had come"); }), {});
}

RILL_COLD bool responder::is_lost(const caller_key& of, std::uint64_t request) const {
    const std::lock_guard lock(mutex_);
    const auto by = callers_.find(of);
    if (by == callers_.end()) return false;
    const auto at = by->second.running.find(request);
    return at != by->second.running.end() && at->second.is_lost;
}

RILL_COLD void responder::answer(const caller_key& to_whom, std::uint64_t request, const std::exception_ptr& problem,
                                 wire_answer answer) noexcept {
    try {
        try_answer(to_whom, request, problem, std::move(answer));
    } catch (...) {
        std::shared_ptr<cancellation> gone; // destroyed after the lock is released
        const std::lock_guard lock(mutex_);
        const auto by = callers_.find(to_whom);
        if (by != callers_.end() && by->second.running.contains(request)) gone = settle(by->second, request);
    }
}

RILL_COLD void responder::try_answer(const caller_key& to_whom, std::uint64_t request, const std::exception_ptr& problem,
                                     wire_answer answer) {
    const auto incarnation = to_whom.first;
    wire_message m;
    m.head.type = wire_type::response;
    m.head.sender = self_.incarnation;
    m.head.receiver = incarnation;
    m.head.request = request;
    bool is_long = false; // the payload goes in chunks
    if (problem) {
        auto [code, text] = described(problem);
        if (is_lost(to_whom, request)) { // a caller that is heard again has cancelled nothing
            code = error_code::unavailable;
            text = named_self() + " has given the request up: for " + std::to_string(health_.dead.count()) +
                   " ms its caller gave no sign of life";
        }
        m = error_to(m, code, std::move(text));
        m.head.receiver = incarnation;
    } else {
        m.meta = std::move(answer.meta);
        is_long = needs_chunks(answer.payload);
        if (is_long) {
            m.head.flags |= wire_header::is_chunked;
            m.payload.push_back(announced_sizes(answer.payload));
        } else {
            m.payload = std::move(answer.payload);
        }
    }
    message_parts parts;
    try {
        parts = pack_message(m, net_->needs_checksums());
    } catch (const error& e) { // the arguments exceed the limit of a message
        m = error_to(m, e.code(), e.what());
        m.head.receiver = incarnation;
        is_long = false;
        parts = pack_message(std::move(m), net_->needs_checksums());
    }
    std::shared_ptr<cancellation> gone; // destroyed after the lock is released: callbacks may own much
    transport::connection to = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto by = callers_.find(to_whom);
        if (closed_ || by == callers_.end()) return;
        const auto at = by->second.running.find(request);
        if (at == by->second.running.end()) return;
        auto kept = parts;
        if (is_long) by->second.chunks.add(request, std::move(answer.payload));
        gone = std::move(at->second.given_up); // from here on nothing fails
        by->second.running.erase(at);
        by->second.answers.record(request, std::move(kept));
        to = by->second.last;
    }
    try {
        net_->send(to, std::move(parts));
    } catch (...) { // its caller asks again
    }
}

/// Watches for callers that become silent while their requests run.
RILL_COLD void responder::watch() {
    if (watches_) return;
    bool any = false;
    for (const auto& [key, c] : callers_) any |= !c.running.empty();
    if (!any) return;
    looks_at_ = env_.now_plus(health_.slow);
    timer_ = env_.at(looks_at_, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->look();
    });
    watches_ = true;
}

RILL_COLD void responder::look() {
    std::vector<std::pair<caller_key, std::uint64_t>> lost;
    {
        const std::lock_guard lock(mutex_);
        watches_ = false;
        if (closed_) return;
        const auto now = env_.now(), was_due = looks_at_;
        try {
            watch();
        } catch (...) { // once more: nobody else may do it
            watch();
        }
        const bool has_slept = now - was_due > health_.slow; // this task was suspended: the callers may have called
        for (auto& [key, c] : callers_)
            if (has_slept)
                c.heard = std::max(c.heard, now);
            else if (now - c.heard >= health_.dead)
                for (auto& [number, r] : c.running) lost.emplace_back(key, number);
    }
    for (const auto& [of, number] : lost) give_up(of, number, true);
}

}}} // namespace rill::RILL_ABI::detail
