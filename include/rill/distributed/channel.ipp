// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/channel.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <rill/distributed/wire_meta.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD channel::channel(std::shared_ptr<transport> net, environment& runs_in, const task_identity& self,
                           std::string address, std::string peer, const health_options& health)
    : net_(std::move(net)), env_(runs_in), self_(self), address_(std::move(address)), peer_(std::move(peer)),
      health_(health) {}

RILL_COLD channel::~channel() {
    if (connection_) net_->disconnect(connection_);
}

RILL_COLD peer_health channel::health() const {
    const std::lock_guard lock(mutex_);
    if (is_dead_) return peer_health::dead;
    if (link_ != link::open) return peer_health::connecting;
    if (calls_.empty()) return peer_health::alive; // nothing is expected of it
    const auto silent = env_.now() - heard_;
    return silent < health_.slow      ? peer_health::alive
           : silent < health_.suspect ? peer_health::slow
           : silent < health_.dead    ? peer_health::suspect
                                      : peer_health::dead;
}

RILL_COLD std::uint64_t channel::incarnation() const {
    const std::lock_guard lock(mutex_);
    return incarnation_;
}

RILL_COLD std::uint64_t channel::bytes_sent() const {
    const std::lock_guard lock(mutex_);
    return bytes_sent_;
}

RILL_COLD void channel::call(wire_request request, answer_function done) {
    actions todo;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) {
            todo.failures.emplace_back(std::move(done), closed_);
        } else if (request.meta.size() > wire_header::most_meta || request.payload.size() > wire_header::most_parts) {
            todo.failures.emplace_back(std::move(done), std::make_exception_ptr(resource_exhausted(
                                                            std::string(method_name(request.method)) + " of " + peer_ +
                                                            " needs " + std::to_string(request.meta.size()) +
                                                            " bytes of names and types; a message has at most " +
                                                            std::to_string(wire_header::most_meta))));
        } else {
            const auto now = env_.now();
            if (calls_.empty()) heard_ = std::max(heard_, now), pinged_ = now; // silence counts from here
            auto& p = calls_[++last_];
            for (const auto& part : request.payload) p.bytes += part.size();
            p.request = std::move(request);
            p.done = std::move(done);
            p.asked = now;
            if (link_ == link::idle) connect(todo);
            pump(todo);
            schedule();
        }
    }
    perform(std::move(todo));
}

RILL_COLD void channel::close(const std::exception_ptr& why) noexcept {
    actions todo;
    transport::connection gone = 0;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        closed_ = why;
        fail_all(why, todo);
        timer_ = {};
        gone = std::exchange(connection_, 0);
        link_ = link::idle;
    }
    if (gone) net_->disconnect(gone);
    perform(std::move(todo));
}

RILL_COLD void channel::perform(actions todo) {
    const auto to = [&] {
        const std::lock_guard lock(mutex_);
        return connection_;
    }();
    for (auto& m : todo.sends) net_->send(to, pack_message(std::move(m), net_->needs_checksums()));
    if (todo.answered) todo.answered(nullptr, std::move(todo.answer));
    for (auto& [done, why] : todo.failures) done(why, {});
}

RILL_COLD wire_header channel::header(wire_type type) const {
    wire_header h;
    h.type = type;
    h.sender = self_.incarnation;
    h.receiver = type == wire_type::hello ? 0 : incarnation_;
    h.ack_below = calls_.empty() ? last_ + 1 : calls_.begin()->first;
    return h;
}

RILL_COLD void channel::connect(actions& todo) {
    if (!connection_)
        connection_ = net_->connect(address_, [weak = weak_from_this()](transport::connection from, message_parts m) {
            if (const auto self = weak.lock()) self->receive(from, m);
        });
    greetings_ = 0;
    greeted_ = env_.now();
    greet(todo);
}

RILL_COLD void channel::greet(actions& todo) {
    link_ = link::greeting;
    todo.sends.push_back({header(wire_type::hello), bytes_of_meta(hello_meta{self_.name, peer_, self_.cluster}), {}});
    greets_again_ = env_.now() + backoff(greetings_++);
}

/// Returns the time to wait before a message is sent again: 50 ms, doubled each time up to 2 s, and less by up to a half.
RILL_COLD std::chrono::nanoseconds channel::backoff(int tries) {
    const auto most = std::min<std::int64_t>(std::int64_t(50'000'000) << std::min(tries, 10), 2'000'000'000);
    return std::chrono::nanoseconds(most -
                                    static_cast<std::int64_t>(env_.draw() % static_cast<std::uint64_t>(most / 2)));
}

/// Sends the calls that wait. Values wait until the peer has taken others; requests without values overtake them.
RILL_COLD void channel::pump(actions& todo) {
    if (link_ != link::open) return;
    bool is_full = false;
    for (auto at = calls_.begin(); at != calls_.end();) {
        auto& [number, p] = *at;
        if (p.request.incarnation && p.request.incarnation != incarnation_) {
            at = fail(at,
                      std::make_exception_ptr(aborted(peer_ + " has restarted: its incarnation was " +
                                                      std::to_string(p.request.incarnation) + " and is " +
                                                      std::to_string(incarnation_))),
                      todo);
            continue;
        }
        if (!p.sent_to) {
            is_full |= p.bytes > 0 && bytes_out_ > 0 && bytes_out_ + p.bytes > health_.window;
            if (p.bytes == 0 || !is_full) {
                bytes_out_ += p.bytes;
                bytes_sent_ += p.bytes;
                send(number, p, false, todo);
            }
        }
        ++at;
    }
}

RILL_COLD void channel::send(std::uint64_t number, pending& p, bool again, actions& todo) {
    const auto now = env_.now();
    wire_message m{header(wire_type::request), {}, {}};
    m.head.session = p.request.session;
    m.head.request = number;
    m.head.method = static_cast<std::uint32_t>(p.request.method);
    m.head.time_left = wire_header::no_deadline;
    if (p.request.deadline != time_point::max()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(p.request.deadline - now).count();
        m.head.time_left = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, wire_header::no_deadline - 1));
    }
    if (again) m.head.flags |= wire_header::is_retry;
    if (p.accepted) {
        m.head.flags |= wire_header::is_probe;
    } else {
        m.meta = p.request.meta;
        m.payload = p.request.payload;
    }
    p.sent_to = incarnation_;
    p.again = now + backoff(p.accepted ? 10 : p.tries++);
    todo.sends.push_back(std::move(m));
}

RILL_COLD void channel::receive(transport::connection, const message_parts& parts) {
    auto m = unpack_message(parts);
    if (!m) return; // the peer is asked again, or found dead
    actions todo;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        if (m->head.receiver != self_.incarnation) return;
        switch (m->head.type) {
        case wire_type::welcome: on_welcome(*m, todo); break;
        case wire_type::refuse:
            if (static_cast<error_code>(m->head.method) == error_code::unauthenticated) {
                if (link_ == link::open) connect(todo); // a new connection, on which nobody has said who we are
            } else if (link_ == link::greeting) {
                fail_all(made_error(m->head.method, m->meta), todo);
                link_ = link::idle;
            }
            break;
        case wire_type::goodbye:
            if (link_ != link::open || m->head.sender != incarnation_) break;
            fail_all(std::make_exception_ptr(
                         unavailable(peer_ + " (incarnation " + std::to_string(incarnation_) + ") has stopped")),
                     todo);
            link_ = link::idle;
            break;
        case wire_type::grant:
        case wire_type::pong:
        case wire_type::response:
        case wire_type::error: on_answer(std::move(*m), todo); break;
        default: break;
        }
        schedule();
    }
    perform(std::move(todo));
}

RILL_COLD void channel::on_welcome(const wire_message& m, actions& todo) {
    if (m.head.sender != incarnation_) on_incarnation(m.head.sender, todo);
    link_ = link::open;
    is_dead_ = false;
    heard_ = env_.now();
    // what was sent by an earlier connection may be lost
    for (auto& [number, p] : calls_)
        if (p.sent_to) send(number, p, true, todo);
    pump(todo);
}

/// The peer has another incarnation: what its former one was asked has an unknown end.
RILL_COLD void channel::on_incarnation(std::uint64_t now, actions& todo) {
    const auto was = std::exchange(incarnation_, now);
    for (auto at = calls_.begin(); at != calls_.end();) {
        if (at->second.sent_to && at->second.sent_to != now)
            at = fail(at,
                      std::make_exception_ptr(aborted(peer_ + " has restarted: its incarnation was " +
                                                      std::to_string(was) + " and is " + std::to_string(now))),
                      todo);
        else
            ++at;
    }
}

RILL_COLD void channel::on_answer(wire_message m, actions& todo) {
    if (link_ != link::open) return;
    if (m.head.sender != incarnation_) {
        on_incarnation(m.head.sender, todo);
        connect(todo);
        return;
    }
    heard_ = env_.now();
    if (m.head.type == wire_type::pong) return;
    const auto at = calls_.find(m.head.request);
    if (at == calls_.end()) return;
    auto& p = at->second;
    if (m.head.type == wire_type::grant) {
        p.accepted = true;
        p.again = env_.now() + backoff(10);
        return;
    }
    bytes_out_ -= p.bytes;
    if (m.head.type == wire_type::response) {
        todo.answered = std::move(p.done);
        todo.answer = {std::move(m.meta), std::move(m.payload), m.head.sender};
    } else {
        todo.failures.emplace_back(std::move(p.done), made_error(m.head.method, m.meta));
    }
    calls_.erase(at);
    if (!calls_.empty() && calls_.begin()->first < m.head.request) { // ack_below does not say it
        auto h = header(wire_type::grant);
        h.request = m.head.request;
        todo.sends.push_back({h, {}, {}});
    }
    pump(todo);
}

RILL_COLD void channel::fail_all(const std::exception_ptr& why, actions& todo) {
    for (auto& [number, p] : calls_) todo.failures.emplace_back(std::move(p.done), why);
    calls_.clear();
    bytes_out_ = 0;
}

RILL_COLD std::map<std::uint64_t, channel::pending>::iterator
channel::fail(std::map<std::uint64_t, pending>::iterator at, const std::exception_ptr& why, actions& todo) {
    auto& p = at->second;
    if (p.sent_to) bytes_out_ -= p.bytes;
    todo.failures.emplace_back(std::move(p.done), why);
    return calls_.erase(at);
}

RILL_COLD std::string channel::state_text(time_point now) const {
    const auto seconds = [&](auto d) {
        return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) + " ms";
    };
    const std::string who = peer_ + (incarnation_ ? " (incarnation " + std::to_string(incarnation_) + ")" : "");
    if (link_ == link::open) return who + ", last heard of " + seconds(now - heard_) + " ago";
    return who + ", to which no connection was made within " + seconds(now - greeted_);
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
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        ticks_at_ = time_point::max();
        const auto now = env_.now();
        for (auto at = calls_.begin(); at != calls_.end();) {
            if (at->second.request.deadline > now) {
                ++at;
                continue;
            }
            if (at->second.sent_to) {
                auto h = header(wire_type::cancel);
                h.request = at->first;
                todo.sends.push_back({h, {}, {}});
            }
            at = fail(
                at,
                std::make_exception_ptr(deadline_exceeded(std::string(method_name(at->second.request.method)) +
                                                          " was not answered by its deadline by " + state_text(now))),
                todo);
        }
        if (!calls_.empty()) check_health(now, todo);
        if (link_ == link::greeting && !calls_.empty() && now >= greets_again_) greet(todo);
        if (link_ == link::open && !calls_.empty()) {
            if (now - pinged_ >= health_.heartbeat) {
                pinged_ = now;
                todo.sends.push_back({header(wire_type::ping), {}, {}});
            }
            for (auto& [number, p] : calls_)
                if (p.sent_to && now >= p.again) send(number, p, true, todo);
            pump(todo);
        }
        schedule();
    }
    perform(std::move(todo));
}

/// Sets the timer to what happens next.
RILL_COLD void channel::schedule() {
    if (calls_.empty()) {
        timer_ = {};
        ticks_at_ = time_point::max();
        return;
    }
    auto when = link_ == link::greeting ? std::min(greets_again_, greeted_ + health_.connect)
                                        : std::min(pinged_ + health_.heartbeat, heard_ + health_.dead);
    for (const auto& [number, p] : calls_) {
        when = std::min(when, p.request.deadline);
        if (link_ == link::open && p.sent_to) when = std::min(when, p.again);
    }
    if (when >= ticks_at_) return; // an early tick does no harm
    ticks_at_ = when;
    timer_ = env_.at(when, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->tick();
    });
}

}}} // namespace rill::RILL_ABI::detail
