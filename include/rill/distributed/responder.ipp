// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/responder.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <rill/core/log.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/wire_meta.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD responder::responder(std::shared_ptr<transport> net, environment& runs_in, const task_identity& self,
                               const health_options& health, request_handler handler, std::size_t most_bytes,
                               std::function<pong_meta()> progress)
    : net_(std::move(net)), env_(runs_in), self_(self), health_(health), handler_(std::move(handler)),
      most_bytes_(most_bytes), progress_(std::move(progress)) {}

RILL_COLD transport::receiver responder::receiver() {
    return [weak = weak_from_this()](transport::connection from, const message_parts& m) {
        if (const auto self = weak.lock()) try {
                self->receive(from, m);
            } catch (...) { // as if it were lost on its way
                note_handled("a message of a caller is dropped: out of memory");
            }
    };
}

RILL_COLD std::string responder::listen(const std::string& address, const std::string& data_address) {
    if (!data_address.empty()) {
        auto at = net_->listen(data_address, receiver());
        const std::lock_guard lock(mutex_);
        data_address_ = std::move(at);
    }
    return net_->listen(address, receiver());
}

RILL_COLD std::size_t responder::refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
}

RILL_COLD std::size_t responder::late() const {
    const std::lock_guard lock(mutex_);
    return late_;
}

RILL_COLD wire_message responder::reply_to(const wire_message& m, wire_type type) const {
    wire_message r;
    r.head.type = type;
    r.head.session = m.head.session;
    r.head.sender = self_.incarnation;
    r.head.receiver = m.head.sender;
    r.head.request = m.head.request;
    return r;
}

RILL_COLD wire_message responder::error_to(const wire_message& m, error_code code, std::string text) const {
    auto r = reply_to(m, wire_type::error);
    r.head.method = static_cast<std::uint32_t>(code);
    text.resize(std::min(text.size(), wire_header::most_meta));
    r.meta = std::move(text);
    return r;
}

RILL_COLD bool responder::malformed::add(time_point now) {
    if (count == 0 || now - first > std::chrono::minutes(1)) count = 0, first = now;
    return ++count >= 3;
}

/// Counts a malformed frame; the third one ends the connection.
RILL_COLD void responder::refuse_frame(transport::connection from) {
    ++refused_;
    if (!bad_[from].add(env_.now())) return;
    bad_.erase(from);
    greeted_.erase(from);
    net_->disconnect(from);
    log_message(log_level::warning, self_.name + ": a connection was ended that sends malformed messages");
}

RILL_COLD void responder::refuse_arguments(caller& by) {
    ++refused_;
    if (!by.bad.add(env_.now()) || std::exchange(by.is_cut_off, true)) return;
    for (auto at = greeted_.begin(); at != greeted_.end();) {
        if (at->second.who != by.key) {
            ++at;
            continue;
        }
        net_->disconnect(at->first);
        at = greeted_.erase(at);
    }
    log_message(log_level::warning,
                self_.name + ": " + by.key.second + " is cut off: it sends arguments that can't be read");
}

RILL_COLD void responder::refuse_arguments(const caller_key& of) {
    const std::lock_guard lock(mutex_);
    if (const auto by = callers_.find(of); by != callers_.end()) refuse_arguments(by->second);
}

RILL_COLD void responder::receive(transport::connection from, const message_parts& parts) {
    auto m = unpack_message(parts);
    reaction to;
    transport::connection chunks_to = from;
    std::shared_ptr<cancellation> gone; // destroyed after the lock is released
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        if (!m) return refuse_frame(from);
        if (m->head.type == wire_type::hello) {
            on_hello(from, *m, to.sends);
        } else {
            const auto who = greeted_.find(from);
            if (who == greeted_.end()) { // as after a reconnection: the peer must say hello again
                auto r = reply_to(*m, wire_type::refuse);
                r.head.method = static_cast<std::uint32_t>(error_code::unauthenticated);
                to.sends.push_back(std::move(r));
            } else if (who->second.who.first != m->head.sender) {
                return refuse_frame(from);
            } else if (m->head.receiver != self_.incarnation) {
                to.sends.push_back(error_to(*m, error_code::aborted, named_self() + " has restarted"));
            } else {
                auto& by = callers_.at(who->second.who);
                if (!who->second.carries_data) by.last = from;
                if (m->head.type == wire_type::pull) by.pulled = from;
                chunks_to = by.pulled;
                try {
                    on_message(by, std::move(*m), to);
                    watch();
                } catch (...) { // the message is dropped, as if it were lost, and its request does not run
                    if (to.begins) gone = settle(by, to.begins);
                    to.run = nullptr;
                }
            }
        }
    }
    react(from, chunks_to, to);
}

RILL_COLD void responder::on_message(caller& by, wire_message m, reaction& to) {
    const auto late = by.delay.of(wire_clock(env_.now()) - m.head.sent_at, env_.now());
    by.heard = env_.now();
    by.answers.acknowledge_below(m.head.ack_below);
    by.chunks.erase_below(m.head.ack_below);
    const auto given_up = abandoned(by, m.head.ack_below);
    switch (m.head.type) {
    case wire_type::ping: to.sends.push_back(reply_to(m, wire_type::pong)); break;
    case wire_type::grant:
        by.answers.acknowledge(m.head.request);
        by.chunks.erase(m.head.request);
        break;
    case wire_type::request: {
        const auto left = std::chrono::milliseconds(m.head.time_left) - late;
        const bool is_timed = m.head.time_left != wire_header::no_deadline;
        if (late > health_.suspect || (is_timed && left.count() <= 0)) {
            ++late_; // a caller that still waits sends it again
            break;
        }
        on_request(by, std::move(m), is_timed ? env_.now_plus(left) : time_point::max(), to);
        break;
    }
    case wire_type::chunk: on_chunk(by, m, to); break;
    case wire_type::pull:
        try {
            by.chunks.on_pull(m.head.request, meta_of<offset_meta>(m.meta).offset, std::uint64_t(m.head.credit) << 10,
                              m.head.flags & wire_header::is_retry);
        } catch (const error&) { // its sender asks again
            refuse_arguments(by);
        }
        break;
    case wire_type::cancel:
        to.run = [self = shared_from_this(), of = by.key, number = m.head.request] {
            self->give_up(of, number, false);
        };
        break;
    default: break;
    }
    if (!given_up.empty())
        to.run = [self = shared_from_this(), of = by.key, given_up, then = std::move(to.run)] {
            for (const auto number : given_up) self->give_up(of, number, false);
            if (then) then();
        };
    while (auto c = by.chunks.next()) try {
            auto r = reply_to(m, wire_type::chunk);
            r.head.request = c->request;
            r.meta = bytes_of_meta(offset_meta{c->offset});
            r.payload.push_back(std::move(c->bytes));
            to.sends.push_back(std::move(r));
        } catch (const std::bad_alloc&) {} // it counts as lost: its receiver asks again
}

RILL_COLD std::vector<std::uint64_t> responder::abandoned(const caller& by, std::uint64_t below) {
    std::vector<std::uint64_t> all;
    for (const auto& [number, r] : by.running) {
        if (number >= below) break;
        if (!r.given_up->is_cancelled()) all.push_back(number);
    }
    return all;
}

RILL_COLD void responder::on_hello(transport::connection from, const wire_message& m,
                                   std::vector<wire_message>& sends) {
    const auto refuse = [&](error_code code, const std::string& why) {
        auto r = error_to(m, code, self_.name + ": " + why);
        r.head.type = wire_type::refuse;
        sends.push_back(std::move(r));
    };
    hello_meta hello;
    try {
        hello = meta_of<hello_meta>(m.meta);
    } catch (const error&) {
        return refuse_frame(from);
    }
    constexpr std::size_t longest_name = 1024;
    if (hello.from.size() > longest_name) return refuse_frame(from);
    if (const auto holder = net_->identity(from); !holder.empty() && !may_speak_as(holder, hello.from))
        return refuse(error_code::permission_denied, "the key of '" + holder + "' is not that of " + hello.from);
    if (!hello.to.empty() && hello.to != self_.name)
        return refuse(error_code::failed_precondition, hello.to + " is expected at this address");
    if (!hello.cluster.empty() && hello.cluster != self_.cluster)
        return refuse(error_code::failed_precondition, hello.from + " has another description of the cluster");
    const caller_key key(m.head.sender, hello.from);
    if (const auto known = callers_.find(key); known != callers_.end() && known->second.is_cut_off) {
        known->second.heard = env_.now(); // a caller is remembered as long as it tries
        return refuse(error_code::permission_denied, hello.from + " is cut off: it has sent malformed messages");
    }
    constexpr auto long_silent = std::chrono::minutes(10);
    std::erase_if(callers_,
                  [&](const auto& c) { return c.second.running.empty() && env_.now() - c.second.heard > long_silent; });
    std::erase_if(greeted_, [&](const auto& g) { return !callers_.contains(g.second.who); });
    const bool is_new = !callers_.contains(key), carries_data = m.head.flags & wire_header::carries_data;
    if (carries_data && is_new)
        return refuse(error_code::failed_precondition, hello.from + " has no connection but for data");
    auto& by = callers_[key]; // first: who is greeted has an entry here
    by.key = key;
    greeted_[from] = {key, carries_data};
    auto r = reply_to(m, wire_type::welcome);
    if (carries_data) r.head.flags = wire_header::carries_data;
    r.meta = bytes_of_meta(hello_meta{self_.name, hello.from, self_.cluster, carries_data ? "" : data_address_});
    sends.push_back(std::move(r));
    if (carries_data) return;
    if (is_new || env_.now() - by.heard > std::chrono::minutes(1))
        by.delay.begin(wire_clock(env_.now()) - m.head.sent_at, env_.now());
    by.last = from;
    by.heard = env_.now();
}

RILL_COLD answer_function responder::reply_to_request(const caller_key& of, std::uint64_t request) {
    return [weak = weak_from_this(), of, request](const std::exception_ptr& problem, wire_answer a) {
        if (const auto self = weak.lock()) self->answer(of, request, problem, std::move(a));
    };
}

RILL_COLD void responder::on_request(caller& by, wire_message m, time_point deadline, reaction& to) {
    const auto number = m.head.request;
    switch (by.answers.begin(number)) {
    case answer_table::state::over: return;
    case answer_table::state::done:
        if (by.answers.find(number)->empty())
            to.sends.push_back(error_to(m, error_code::resource_exhausted, named_self() + ": out of memory"));
        else
            to.again.push_back(*by.answers.find(number));
        return;
    case answer_table::state::running:
        if (const auto at = by.incomplete.find(number); at != by.incomplete.end())
            to.sends.push_back(pull(m, at->second, true));
        else
            to.sends.push_back(reply_to(m, wire_type::grant));
        return;
    case answer_table::state::full:
        to.sends.push_back(error_to(m, error_code::resource_exhausted,
                                 named_self() + ": " + std::to_string(answer_table::most) + " requests are open"));
        return;
    case answer_table::state::fresh: break;
    }
    to.begins = number;
    by.running.try_emplace(number);
    const auto fails = [&](const std::exception_ptr& why) {
        to.run = [reply = reply_to_request(by.key, number), why] { reply(why, {}); };
    };
    if (m.head.flags & wire_header::is_probe) // it was accepted before but is unknown: a protocol error
        return fails(std::make_exception_ptr(aborted(named_self() + " does not know the request any more")));
    if (!(m.head.flags & wire_header::is_chunked)) {
        to.run = running(by, std::move(m), deadline);
        return;
    }
    try {
        chunk_receiver payload(sizes_announced(m));
        m.payload.clear();
        const auto at = by.incomplete.try_emplace(number, arriving{std::move(m), std::move(payload), deadline}).first;
        to.sends.push_back(pull(at->second.message, at->second, false));
    } catch (const error&) {
        fails(std::current_exception());
    }
}

RILL_COLD wire_message responder::pull(const wire_message& m, const arriving& a, bool again) const {
    auto r = reply_to(m, wire_type::pull);
    r.head.credit = static_cast<std::uint32_t>(chunk_window >> 10);
    if (again) r.head.flags = wire_header::is_retry;
    r.meta = bytes_of_meta(offset_meta{a.payload.received()});
    return r;
}

RILL_COLD void responder::on_chunk(caller& by, const wire_message& m, reaction& to) {
    const auto at = by.incomplete.find(m.head.request);
    if (at == by.incomplete.end() || m.payload.size() != 1) return;
    auto& a = at->second;
    const auto bytes = m.payload[0].bytes();
    if (most_bytes_ && arrived_ + bytes.size() > most_bytes_) {
        to.begins = at->first;
        const auto gone = remove(by, at);
        const auto why = std::make_exception_ptr(
            resource_exhausted(self_.name + ": payloads that arrive have more than " + std::to_string(most_bytes_) +
                               " bytes together"));
        to.run = [reply = reply_to_request(by.key, gone.message.head.request), why] { reply(why, {}); };
        return;
    }
    try {
        if (!a.payload.take(meta_of<offset_meta>(m.meta).offset, bytes)) return;
    } catch (const error&) { // its sender is asked again
        refuse_arguments(by);
        return;
    } catch (const std::bad_alloc&) {
        to.begins = at->first;
        throw;
    }
    arrived_ += bytes.size();
    if (!a.payload.is_complete()) {
        to.sends.push_back(pull(m, a, false));
        return;
    }
    to.begins = at->first;
    auto complete = remove(by, at);
    complete.message.payload = complete.payload.parts();
    to.run = running(by, std::move(complete.message), complete.deadline);
}

RILL_COLD responder::arriving responder::remove(caller& by, std::map<std::uint64_t, arriving>::iterator at) {
    auto gone = std::move(at->second);
    by.incomplete.erase(at);
    arrived_ -= gone.payload.received();
    return gone;
}

RILL_COLD std::function<void()> responder::running(caller& by, wire_message m, time_point deadline) {
    auto grant = reply_to(m, wire_type::grant);
    incoming_request request{.method = static_cast<wire_method>(m.head.method),
                             .session = m.head.session,
                             .meta = std::move(m.meta),
                             .payload = std::move(m.payload),
                             .caller = by.key.second,
                             .caller_incarnation = m.head.sender,
                             .deadline = deadline,
                             .given_up = by.running.at(m.head.request).given_up};
    return [this, self = shared_from_this(), of = by.key, request = std::move(request), grant = std::move(grant),
            reply = reply_to_request(by.key, m.head.request)] {
        try {
            handler_(request, reply);
        } catch (const data_loss&) { // malformed arguments
            reply(std::current_exception(), {});
            refuse_arguments(of);
        } catch (...) {
            reply(std::current_exception(), {});
        }
        note_running(of, grant);
    };
}

/// Tells the caller that a request has arrived, unless it is answered already.
RILL_COLD void responder::note_running(const caller_key& of, const wire_message& grant) {
    transport::connection to = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto by = callers_.find(of);
        if (closed_ || by == callers_.end() || !by->second.running.contains(grant.head.request)) return;
        to = by->second.last;
    }
    send(to, grant);
}

}}} // namespace rill::RILL_ABI::detail
