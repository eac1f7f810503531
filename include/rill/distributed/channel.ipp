// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/channel.hpp>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include <rill/core/log.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/wire_meta.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD channel::channel(std::shared_ptr<transport> net, environment& runs_in, const task_identity& self,
                           std::string address, std::string peer, const health_options& health)
    : net_(std::move(net)), env_(runs_in), self_(self), address_(std::move(address)), health_(health),
      peer_(std::move(peer)) {}

RILL_COLD channel::~channel() {
    if (connection_) net_->disconnect(connection_);
    disconnect_data();
}

RILL_COLD std::string channel::peer() const {
    const std::lock_guard lock(mutex_);
    return named_peer();
}

RILL_COLD peer_health channel::health() const {
    const std::lock_guard lock(mutex_);
    if (is_dead_) return peer_health::dead;
    if (link_ != link::open) return peer_health::connecting;
    if (calls_.empty()) return peer_health::alive; // no answer is expected
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

// ---- calls ---------------------------------------------------------------------------------------------------------------

RILL_COLD std::uint64_t channel::call(wire_request request, answer_function done) {
    actions todo;
    std::uint64_t number = 0;
    try {
        const std::lock_guard lock(mutex_);
        if (closed_) {
            todo.failures.emplace_back(std::move(done), closed_);
        } else if (request.meta.size() > wire_header::most_arguments ||
                   request.payload.size() >= wire_header::most_parts) {
            todo.failures.emplace_back(
                std::move(done),
                std::make_exception_ptr(resource_exhausted(
                    std::string(method_name(request.method)) + " of " + named_peer() + " needs " +
                    std::to_string(request.meta.size()) + " bytes of names and types; a message has at most " +
                    std::to_string(wire_header::most_arguments))));
        } else {
            const auto now = env_.now();
            if (calls_.empty()) {
                // the peer may have forgotten who calls, and the clocks may have drifted apart
                if (link_ == link::open && now - heard_ > std::chrono::minutes(5)) link_ = link::idle;
                heard_ = std::max(heard_, now), pinged_ = now; // silence is measured from here
                progressed_ = now, oldest_.clear(), has_warned_ = false;
            }
            retries_.earn();
            auto& p = calls_[last_ + 1];
            number = ++last_;
            for (const auto& part : request.payload) p.bytes += part.size();
            p.is_push = request.method == wire_method::push;
            p.is_long = needs_chunks(request.payload);
            p.request = std::move(request);
            if (p.request.deadline < time_point::max() - p.request.grace)
                p.expires = p.request.deadline + p.request.grace;
            p.done = std::move(done);
            set_due(number, p);
            (!p.is_push ? controls_ : p.is_long ? long_values_ : values_).push_back(number);
            if (link_ == link::idle) connect();
            pump(todo);
            schedule();
        }
    } catch (...) { // the other calls are as they were
        const auto why = current_error();
        fail_one(number, why, todo);
        tell(done, why, {}); // unless the call has it
    }
    perform(std::move(todo));
    return number;
}

RILL_COLD void channel::give_up(std::uint64_t call, const std::exception_ptr& why) {
    constexpr auto soon = std::chrono::milliseconds(250); // the peer's answer may still arrive and report the outcome
    actions todo;
    try {
        const std::lock_guard lock(mutex_);
        const auto at = calls_.find(call);
        if (at == calls_.end()) return;
        auto& p = at->second;
        if (p.sent_to) {
            send_short(wire_type::cancel, call);
            p.given_up = why;
            p.expires = std::min(p.expires, env_.now() + soon);
            set_due(call, p);
        } else {
            fail(at, why, todo);
        }
        schedule();
    } catch (...) { // its peer is not told
        fail_one(call, why, todo);
    }
    perform(std::move(todo));
}

RILL_COLD void channel::tell(const answer_function& done, const std::exception_ptr& problem, wire_answer a) noexcept {
    if (done) try {
            done(problem, std::move(a));
        } catch (...) {
            note_handled("an exception of a function that receives an answer");
        }
}

RILL_COLD void channel::perform(actions todo) noexcept {
    drain();
    if (!todo.warning.empty()) log_message(log_level::warning, todo.warning);
    tell(todo.answered, nullptr, std::move(todo.answer));
    for (auto& [done, why] : todo.failures) tell(done, why, {});
}

/// Returns true for the messages that the data connection carries.
inline bool is_of_chunks(wire_type t) { return t == wire_type::chunk || t == wire_type::pull; }

/// Sends the messages in the outbox. If another thread is sending, that thread also sends the messages of this one.
RILL_COLD void channel::drain() noexcept {
    std::unique_lock lock(mutex_);
    if (std::exchange(drains_, true)) return;
    while (!outbox_.empty()) {
        auto m = std::move(outbox_.front());
        outbox_.pop_front();
        const bool by_data =
            (m.head.flags & wire_header::carries_data) || (data_.state == link::open && is_of_chunks(m.head.type));
        const auto to = by_data ? data_.at : connection_;
        lock.unlock();
        try {
            net_->send(to, pack_message(std::move(m), net_->needs_checksums()));
        } catch (...) {} // out of memory: the message counts as lost on its way, and is sent again if it needs an answer
        lock.lock();
    }
    drains_ = false;
}

// ---- sending -------------------------------------------------------------------------------------------------------------

RILL_COLD wire_header channel::header(wire_type type) const {
    wire_header h;
    h.type = type;
    h.sender = self_.incarnation;
    h.receiver = type == wire_type::hello ? 0 : incarnation_;
    h.ack_below = calls_.empty() ? last_ + 1 : calls_.begin()->first;
    h.sent_at = wire_clock(env_.now());
    return h;
}

RILL_COLD void channel::send_short(wire_type type, std::uint64_t request, std::uint8_t flags) {
    auto h = header(type);
    h.request = request;
    h.flags = flags;
    outbox_.push_back({h, {}, {}});
}

RILL_COLD transport::receiver channel::receiver() {
    return [weak = weak_from_this()](transport::connection from, const message_parts& m) {
        if (const auto self = weak.lock()) try {
                self->receive(from, m);
            } catch (...) { // as if it were lost on its way
                note_handled("a message of a peer is dropped: out of memory");
            }
    };
}

RILL_COLD void channel::connect() {
    if (!connection_) connection_ = net_->connect(address_, receiver());
    greetings_ = 0;
    greeted_ = env_.now();
    greet();
}

RILL_COLD void channel::greet() {
    link_ = link::greeting;
    outbox_.push_back({header(wire_type::hello), bytes_of_meta(hello_meta{self_.name, peer_, self_.cluster}), {}});
    greets_again_ = env_.now() + backoff(greetings_++);
}

RILL_COLD void channel::connect_for_data() {
    if (data_.address.empty() || data_.state != link::idle) return;
    data_.at = net_->connect(data_.address, receiver(), key_name_of(peer_));
    greet_for_data();
}

RILL_COLD void channel::greet_for_data() {
    data_.state = link::greeting;
    data_.greeted = env_.now();
    auto h = header(wire_type::hello);
    h.flags = wire_header::carries_data;
    outbox_.push_back({h, bytes_of_meta(hello_meta{self_.name, peer_, self_.cluster}), {}});
}

RILL_COLD void channel::disconnect_data() {
    if (data_.at) net_->disconnect(data_.at);
    data_ = {data_.address};
}

/// Returns true while chunks wait for the data connection.
RILL_COLD bool channel::awaits_data(time_point now) const {
    return data_.state == link::greeting && now - data_.greeted < time_for_data;
}

/// Returns the delay before a message is sent again: 50 ms, doubled each time up to 1 s, and shortened at random by up to a half.
RILL_COLD std::chrono::nanoseconds channel::backoff(int tries) {
    const auto most = std::min<std::int64_t>(std::int64_t(50'000'000) << std::min(tries, 10), 1'000'000'000);
    return std::chrono::nanoseconds(most -
                                    static_cast<std::int64_t>(env_.draw() % static_cast<std::uint64_t>(most / 2)));
}

RILL_COLD std::exception_ptr channel::restarted(std::uint64_t was) const {
    return std::make_exception_ptr(aborted(named_peer() + " has restarted: its incarnation was " + std::to_string(was) +
                                           " and is " + std::to_string(incarnation_)));
}

/// Returns the first call of a queue that still waits.
RILL_COLD channel::calls::iterator channel::first_of(std::deque<std::uint64_t>& queue) {
    for (; !queue.empty(); queue.pop_front()) {
        const auto at = calls_.find(queue.front());
        if (at != calls_.end() && !at->second.sent_to) return at;
    }
    return calls_.end();
}

/// Returns true if flow control allows a push now.
RILL_COLD bool channel::has_room(const pending& p) const {
    const auto out = p.is_long ? long_values_out_ : values_out_;
    return pushes_out_ < most_pushes && (out == 0 || out + p.bytes <= health_.window);
}

/// Returns the time at which a push ends if its peer accepts no more of it. It starts with the sending, since a push may wait long before
/// that and a long one takes time.
RILL_COLD channel::time_point channel::end_of(const pending& p) const {
    return std::min(p.request.deadline, env_.now_plus(health_.control));
}

/// Sends the waiting calls and chunks. Values wait until the peer has accepted earlier ones. Steps that have not begun there keep their
/// values, so that calls that begin steps must not wait. Nothing is sent while the peer is silent. The peer refuses messages that
/// arrive long after they were sent. Their caller may have declared it dead meanwhile.
RILL_COLD void channel::pump(actions& todo) {
    if (link_ != link::open || is_silent(env_.now())) return;
    for (auto* queue : {&controls_, &values_, &long_values_})
        for (auto at = first_of(*queue); at != calls_.end(); at = first_of(*queue)) {
            auto& [number, p] = *at;
            if (p.request.incarnation && p.request.incarnation != incarnation_) {
                if (!std::exchange(p.has_asked, true)) return connect(); // the peer may have restarted unnoticed
                fail(at, restarted(p.request.incarnation), todo);
                continue;
            }
            if (p.is_push && !has_room(p)) break;
            if (todo.failures.size() == todo.failures.capacity()) todo.failures.reserve(todo.failures.size() + 1);
            if (p.is_push) {
                (p.is_long ? long_values_out_ : values_out_) += p.bytes;
                ++pushes_out_;
                p.expires = end_of(p);
            }
            queue->pop_front();
            bytes_sent_ += p.bytes;
            p.sent_to = incarnation_; // from here on remove() takes it out of the window
            try {
                if (p.is_long) {
                    connect_for_data();
                    chunks_.add(number, p.request.payload);
                }
                send(number, p, false);
            } catch (...) {
                fail(at, current_error(), todo); // there is room for it
            }
        }
    if (awaits_data(env_.now())) return;
    while (auto c = chunks_.next()) try {
            auto h = header(wire_type::chunk);
            h.request = c->request;
            outbox_.push_back({h, bytes_of_meta(offset_meta{c->offset}), {std::move(c->bytes)}});
        } catch (const std::bad_alloc&) {} // it counts as lost: its receiver asks again
}

RILL_COLD void channel::send(std::uint64_t number, pending& p, bool again) {
    wire_message m{header(wire_type::request), {}, {}};
    m.head.session = p.request.session;
    m.head.request = number;
    m.head.method = static_cast<std::uint32_t>(p.request.method);
    m.head.time_left = wire_header::no_deadline;
    if (p.request.deadline != time_point::max()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(p.request.deadline - env_.now()).count();
        m.head.time_left = static_cast<std::uint32_t>(std::clamp<std::int64_t>(left, 1, wire_header::no_deadline - 1));
    }
    if (again) m.head.flags |= wire_header::is_retry;
    if (p.accepted) {
        m.head.flags |= wire_header::is_probe;
    } else {
        m.meta = p.request.meta;
        if (p.is_long) {
            m.head.flags |= wire_header::is_chunked;
            m.payload.push_back(announced_sizes(p.request.payload));
        } else {
            m.payload = p.request.payload;
        }
    }
    p.sent_to = incarnation_;
    set_again(number, p, p.accepted || p.bytes > 0 ? 10 : p.tries++); // to send a value again costs more than to wait
    outbox_.push_back(std::move(m));
}

/// Asks for the payloads of all answers that arrive in chunks.
RILL_COLD void channel::pull_all() {
    for (const auto& [number, p] : calls_)
        if (p.answer) pull(number, p, true);
}

/// Asks for the rest of an answer's payload. `again`: chunks under way may be lost.
RILL_COLD void channel::pull(std::uint64_t number, const pending& p, bool again) {
    if (awaits_data(env_.now())) return; // pull_all asks later
    auto h = header(wire_type::pull);
    h.request = number;
    h.credit = static_cast<std::uint32_t>(chunk_window >> 10);
    if (again) h.flags = wire_header::is_retry;
    outbox_.push_back({h, bytes_of_meta(offset_meta{p.answer->received()}), {}});
}

}}} // namespace rill::RILL_ABI::detail
