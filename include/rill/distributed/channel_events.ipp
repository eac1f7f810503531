// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The events of a channel: messages of its peer, and timeouts.

#include <rill/distributed/channel.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <rill/distributed/wire_meta.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// ---- receiving -----------------------------------------------------------------------------------------------------------

RILL_COLD void channel::receive(transport::connection from, const message_parts& parts) {
    auto m = unpack_message(parts); // if memory is out, the message counts as lost on its way
    if (!m) return; // the peer is asked again, or found dead
    actions todo;
    std::exception_ptr broken;
    try {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        if (m->head.receiver != self_.incarnation || (from != connection_ && from != data_.at)) return;
        const auto type = m->head.type;
        if (from == data_.at && (type == wire_type::welcome || type == wire_type::refuse))
            on_data_greeting(*m, todo);
        else
            on_message(std::move(*m), todo);
        schedule();
    } catch (...) {
        broken = current_error();
    }
    perform(std::move(todo));
    if (broken) break_down(broken);
}

RILL_COLD void channel::on_message(wire_message m, actions& todo) {
    switch (m.head.type) {
    case wire_type::welcome: on_welcome(m, todo); break;
    case wire_type::refuse:
        if (static_cast<error_code>(m.head.method) == error_code::unauthenticated) {
            if (link_ == link::open) connect(); // a new connection needs a new hello
        } else if (link_ == link::greeting) {
            fail_all(made_error(m.head.method, m.meta), todo);
            link_ = link::idle;
        }
        break;
    case wire_type::goodbye:
        if (link_ != link::open || m.head.sender != incarnation_) break;
        fail_all(std::make_exception_ptr(
                     unavailable(named_peer() + " (incarnation " + std::to_string(incarnation_) + ") has stopped")),
                 todo);
        link_ = link::idle;
        break;
    case wire_type::grant:
    case wire_type::pong:
    case wire_type::pull:
    case wire_type::chunk:
    case wire_type::response:
    case wire_type::error: on_sign_of_life(std::move(m), todo); break;
    default: break;
    }
}

/// Handles the peer's answer at its data address.
RILL_COLD void channel::on_data_greeting(const wire_message& m, actions& todo) {
    if (m.head.type == wire_type::refuse) {
        if (static_cast<error_code>(m.head.method) == error_code::unauthenticated) {
            if (data_.state == link::open) greet_for_data(); // a new connection needs a new hello
        } else {
            share_for_data(todo);
        }
        return;
    }
    if (m.head.sender != incarnation_ || data_.state != link::greeting) return;
    data_.state = link::open;
    pull_all();
    pump(todo);
}

/// Lets chunks use the first connection.
RILL_COLD void channel::share_for_data(actions& todo) {
    disconnect_data();
    data_.address.clear();
    pull_all();
    pump(todo);
}

/// Counts a chunk that is requested again. After several losses in a row the peer's data address counts as unreachable.
RILL_COLD void channel::note_loss(actions& todo) {
    constexpr int most = 3;
    if (data_.state == link::open && ++data_.losses == most) share_for_data(todo);
}

RILL_COLD void channel::on_welcome(const wire_message& m, actions& todo) {
    hello_meta hello;
    try {
        hello = meta_of<hello_meta>(m.meta);
    } catch (const error&) { // the peer stays without a name
    }
    if (peer_.empty()) peer_ = hello.from;
    if (m.head.sender != incarnation_) on_incarnation(m.head.sender, todo);
    if (hello.data != data_.address) {
        disconnect_data();
        data_.address = hello.data;
    }
    link_ = link::open;
    is_dead_ = false;
    heard_ = env_.now();
    // messages sent over an earlier connection may be lost
    chunks_.forget_sent();
    for (auto& [number, p] : calls_)
        if (p.sent_to) send(number, p, true);
    pump(todo);
}

/// Handles a new incarnation of the peer. The outcome of calls to the former one is unknown.
RILL_COLD void channel::on_incarnation(std::uint64_t now, actions& todo) {
    const auto was = std::exchange(incarnation_, now);
    disconnect_data();
    for (auto at = calls_.begin(); at != calls_.end();) {
        if (at->second.sent_to && at->second.sent_to != now)
            at = fail(at, restarted(was), todo);
        else
            ++at;
    }
}

RILL_COLD void channel::on_sign_of_life(wire_message m, actions& todo) {
    if (link_ != link::open) return;
    if (m.head.sender != incarnation_) {
        on_incarnation(m.head.sender, todo);
        connect();
        return;
    }
    heard_ = env_.now();
    const auto request = m.head.request;
    if (m.head.type == wire_type::pong) note_progress(m, todo);
    if (const auto at = calls_.find(m.head.request); at != calls_.end()) try {
            switch (m.head.type) {
            case wire_type::grant:
                at->second.accepted = true;
                set_again(at->first, at->second, 10);
                break;
            case wire_type::pull:
                if (m.head.flags & wire_header::is_retry)
                    note_loss(todo);
                else
                    data_.losses = 0;
                chunks_.on_pull(at->first, meta_of<offset_meta>(m.meta).offset, std::uint64_t(m.head.credit) << 10,
                                m.head.flags & wire_header::is_retry);
                if (at->second.is_push) at->second.expires = end_of(at->second);
                set_again(at->first, at->second, 10);
                break;
            case wire_type::chunk: on_chunk(at, m, todo); break;
            case wire_type::response:
            case wire_type::error: on_answer(at, std::move(m), todo); break;
            default: break;
            }
        } catch (const error&) { // not a valid message: the peer is asked again
        } catch (const std::bad_alloc&) {
            const auto still = calls_.find(request);
            if (still != calls_.end() && still->second.done) fail(still, current_error(), todo);
        }
    else if (m.head.type == wire_type::response || m.head.type == wire_type::error)
        send_short(wire_type::grant, m.head.request); // the call has ended without it: the peer need not keep it
    pump(todo);
}

/// Notes the progress that a pong reports. A peer whose steps do not move is reported once.
RILL_COLD void channel::note_progress(const wire_message& pong, actions& todo) {
    pong_meta m;
    try {
        m = meta_of<pong_meta>(pong.meta);
    } catch (const error&) { // still a sign of life
        return;
    }
    const auto now = env_.now();
    if (m.progress != progress_ || m.oldest.empty()) progressed_ = now, has_warned_ = false;
    progress_ = m.progress;
    oldest_ = std::move(m.oldest);
    if (has_warned_ || calls_.empty() || now - progressed_ < health_.stuck) return;
    has_warned_ = true;
    todo.warning = self_.name + " waits for " + std::string(method_name(calls_.begin()->second.request.method)) + " of " +
                   state_text(now);
}

RILL_COLD void channel::on_answer(calls::iterator at, wire_message m, actions& todo) {
    auto& [number, p] = *at;
    if (m.head.type == wire_type::error) {
        const auto problem = made_error(m.head.method, m.meta);
        todo.failures.emplace_back(std::move(p.done), problem);
        return answered(at);
    }
    if (!(m.head.flags & wire_header::is_chunked)) {
        todo.answered = std::move(p.done);
        todo.answer = {std::move(m.meta), std::move(m.payload), m.head.sender};
        return answered(at);
    }
    const bool again = p.answer != nullptr;
    if (!again) {
        p.answer = std::make_unique<chunk_receiver>(sizes_announced(m));
        p.answer_meta = std::move(m.meta);
        connect_for_data();
    }
    p.accepted = true;
    pull(number, p, again);
    set_again(number, p, 10);
}

RILL_COLD void channel::on_chunk(calls::iterator at, const wire_message& m, actions& todo) {
    auto& [number, p] = *at;
    const auto offset = meta_of<offset_meta>(m.meta).offset;
    if (!p.answer || m.payload.size() != 1 || !p.answer->take(offset, m.payload[0].bytes())) return;
    data_.losses = 0;
    if (p.answer->is_complete()) {
        auto parts = p.answer->parts(); // first: it may fail
        todo.answered = std::move(p.done);
        todo.answer = {std::move(p.answer_meta), std::move(parts), incarnation_};
        return answered(at);
    }
    pull(number, p, false);
    set_again(number, p, 10);
}

/// Forgets a call that was answered, and lets the peer forget the answer.
RILL_COLD void channel::answered(calls::iterator at) {
    const auto number = at->first;
    const bool is_long = at->second.answer != nullptr;
    remove(at); // first: it can't fail
    // otherwise ack_below of the next message acknowledges it
    if (is_long || (!calls_.empty() && calls_.begin()->first < number)) send_short(wire_type::grant, number);
}

// ---- time ----------------------------------------------------------------------------------------------------------------

RILL_COLD std::string channel::state_text(time_point now) const {
    const auto seconds = [&](auto d) {
        return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
    };
    const std::string who = named_peer() + (incarnation_ ? " (incarnation " + std::to_string(incarnation_) + ")" : "");
    if (link_ == link::open) return who + ", last heard of " + seconds(now - heard_) + " ago" + progress_text(now);
    return who + ", to which no connection was made within " + seconds(now - greeted_);
}

/// Returns a description of the peer's steps; empty if none is known to run.
RILL_COLD std::string channel::progress_text(time_point now) const {
    if (oldest_.empty()) return {};
    const auto still = std::chrono::duration_cast<std::chrono::milliseconds>(now - progressed_).count();
    return ", last progress " + std::to_string(still) + " ms ago: its " + oldest_;
}

RILL_COLD void channel::check_health(time_point now, actions& todo) {
    if (link_ == link::greeting && now - greeted_ >= health_.connect) {
        fail_all(std::make_exception_ptr(unavailable(state_text(now) + " at '" + address_ + "'")), todo);
        link_ = link::idle;
    } else if (link_ == link::open && now - heard_ >= health_.dead) {
        fail_all(std::make_exception_ptr(unavailable("no sign of life from " + state_text(now))), todo);
        is_dead_ = true;
        link_ = link::idle;
    }
}

RILL_COLD void channel::tick() {
    actions todo;
    std::exception_ptr broken;
    try {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        const auto was_due = std::exchange(ticks_at_, time_point::max());
        const auto now = env_.now();
        if (now - was_due > health_.slow) heard_ = std::max(heard_, now); // this task slept: the peer may have called
        while (!due_.empty() && due_.begin()->first <= now) {
            const auto number = due_.begin()->second;
            try {
                on_due(calls_.find(number), now, todo);
            } catch (const std::bad_alloc&) {
                if (const auto still = calls_.find(number); still != calls_.end()) fail(still, current_error(), todo);
            }
        }
        if (!calls_.empty()) check_health(now, todo);
        if (data_.state == link::greeting && !awaits_data(now)) share_for_data(todo);
        if (link_ == link::greeting && !calls_.empty() && now >= greets_again_) greet();
        if (link_ == link::open && !calls_.empty()) {
            if (now - pinged_ >= health_.heartbeat) {
                pinged_ = now;
                send_short(wire_type::ping, 0);
            }
            pump(todo);
        }
        schedule();
    } catch (...) { // no timer may be set any more
        broken = current_error();
    }
    perform(std::move(todo));
    if (broken) break_down(broken);
}

/// Ends a call whose deadline has passed, or sends again messages that may be lost.
RILL_COLD void channel::on_due(calls::iterator at, time_point now, actions& todo) {
    auto& [number, p] = *at;
    if (p.expires <= now) {
        if (p.sent_to && !p.given_up) send_short(wire_type::cancel, number);
        const auto why =
            p.given_up
                ? p.given_up
                : std::make_exception_ptr(deadline_exceeded(std::string(method_name(p.request.method)) +
                                                            " was not answered by its deadline by " + state_text(now)));
        fail(at, why, todo);
    } else if (link_ != link::open) { // everything is sent again once it is open
        set_again(number, p, 10);
    } else if (is_silent(now)) { // sent once the peer is heard of
        set_again(number, p, 3);
    } else if (!retries_.take(now)) {
        set_again(number, p, 10);
    } else if (p.answer) {
        note_loss(todo);
        pull(number, p, true);
        set_again(number, p, 10);
    } else {
        send(number, p, true);
    }
}

RILL_COLD void channel::set_again(std::uint64_t number, pending& p, int tries) {
    p.again = env_.now() + backoff(tries);
    set_due(number, p);
}

RILL_COLD void channel::set_due(std::uint64_t number, pending& p) {
    const auto due = p.sent_to ? std::min(p.expires, p.again) : p.expires;
    if (due == p.due) return;
    due_.erase({p.due, number});
    p.due = due;
    if (due != time_point::max()) due_.emplace(due, number);
}

/// Sets the timer to the next event.
RILL_COLD void channel::schedule() {
    if (calls_.empty()) {
        timer_ = {};
        ticks_at_ = time_point::max();
        return;
    }
    auto when = link_ == link::greeting ? std::min(greets_again_, greeted_ + health_.connect)
                                        : std::min(pinged_ + health_.heartbeat, heard_ + health_.dead);
    if (!due_.empty()) when = std::min(when, due_.begin()->first);
    if (data_.state == link::greeting) when = std::min(when, data_.greeted + time_for_data);
    if (when >= ticks_at_) return; // an early tick does no harm
    timer_ = env_.at(when, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->tick();
    });
    ticks_at_ = when;
}

}}} // namespace rill::RILL_ABI::detail
