// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/responder.hpp>

#include <utility>

#include <rill/core/log.hpp>
#include <rill/distributed/security.hpp>
#include <rill/distributed/wire_meta.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD responder::responder(std::shared_ptr<transport> net, environment& runs_in, const task_identity& self,
                               const health_options& health, request_handler handler)
    : net_(std::move(net)), env_(runs_in), self_(self), health_(health), handler_(std::move(handler)) {}

RILL_COLD void responder::listen(const std::string& address) {
    net_->listen(address, [weak = weak_from_this()](transport::connection from, message_parts m) {
        if (const auto self = weak.lock()) self->receive(from, m);
    });
}

RILL_COLD void responder::close() noexcept {
    std::vector<std::shared_ptr<cancellation>> running;
    std::vector<std::pair<transport::connection, wire_message>> farewells;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(closed_, true)) return;
        for (auto& [incarnation, c] : callers_) {
            for (auto& [number, r] : c.running) running.push_back(r);
            wire_message m;
            m.head.type = wire_type::goodbye;
            m.head.sender = self_.incarnation;
            m.head.receiver = incarnation;
            farewells.emplace_back(c.last, std::move(m));
        }
        timer_ = {};
    }
    for (auto& [to, m] : farewells) net_->send(to, pack_message(std::move(m), net_->needs_checksums()));
    for (const auto& r : running) r->cancel();
}

RILL_COLD std::size_t responder::refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
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

/// Counts a frame that is no message; the third one ends the connection.
RILL_COLD void responder::refuse_frame(transport::connection from) {
    ++refused_;
    if (++bad_[from] < 3) return;
    bad_.erase(from);
    greeted_.erase(from);
    net_->disconnect(from);
    log_message(log_level::warning, self_.name + ": a connection was ended that sends malformed messages");
}

RILL_COLD void responder::receive(transport::connection from, const message_parts& parts) {
    auto m = unpack_message(parts);
    std::vector<wire_message> sends;
    std::vector<message_parts> again;
    std::function<void()> run;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        if (!m) return refuse_frame(from);
        if (m->head.type == wire_type::hello) {
            on_hello(from, *m, sends);
        } else {
            const auto who = greeted_.find(from);
            if (who == greeted_.end()) { // as after a reconnection: the peer says hello again
                auto r = reply_to(*m, wire_type::refuse);
                r.head.method = static_cast<std::uint32_t>(error_code::unauthenticated);
                sends.push_back(std::move(r));
            } else if (who->second != m->head.sender) {
                return refuse_frame(from);
            } else if (m->head.receiver != self_.incarnation) {
                sends.push_back(error_to(*m, error_code::aborted, self_.name + " has restarted"));
            } else {
                auto& by = callers_.at(m->head.sender);
                by.last = from;
                by.heard = env_.now();
                by.answers.acknowledge_below(m->head.ack_below);
                switch (m->head.type) {
                case wire_type::ping: sends.push_back(reply_to(*m, wire_type::pong)); break;
                case wire_type::grant: by.answers.acknowledge(m->head.request); break;
                case wire_type::request: on_request(by, std::move(*m), sends, again, run); break;
                case wire_type::cancel:
                    if (const auto at = by.running.find(m->head.request); at != by.running.end())
                        run = [c = at->second] { c->cancel(); };
                    break;
                default: break;
                }
                watch();
            }
        }
    }
    for (auto& s : sends) net_->send(from, pack_message(std::move(s), net_->needs_checksums()));
    for (auto& a : again) net_->send(from, std::move(a));
    if (run) run();
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
    if (const auto holder = net_->identity(from); !holder.empty() && !may_speak_as(holder, hello.from))
        return refuse(error_code::permission_denied, "the key of '" + holder + "' is not that of " + hello.from);
    if (hello.to != self_.name)
        return refuse(error_code::failed_precondition, hello.to + " is expected at this address");
    if (!hello.cluster.empty() && hello.cluster != self_.cluster)
        return refuse(error_code::failed_precondition, hello.from + " has another description of the cluster");
    constexpr auto long_silent = std::chrono::minutes(10);
    std::erase_if(callers_,
                  [&](const auto& c) { return c.second.running.empty() && env_.now() - c.second.heard > long_silent; });
    std::erase_if(greeted_, [&](const auto& g) { return !callers_.contains(g.second); });
    greeted_[from] = m.head.sender;
    auto& by = callers_[m.head.sender];
    by.name = hello.from;
    by.last = from;
    by.heard = env_.now();
    auto r = reply_to(m, wire_type::welcome);
    r.meta = bytes_of_meta(hello_meta{self_.name, hello.from, self_.cluster});
    sends.push_back(std::move(r));
}

RILL_COLD void responder::on_request(caller& by, wire_message m, std::vector<wire_message>& sends,
                                     std::vector<message_parts>& again, std::function<void()>& run) {
    const auto number = m.head.request;
    const auto incarnation = m.head.sender;
    const bool is_probe = m.head.flags & wire_header::is_probe;
    switch (by.answers.begin(number)) {
    case answer_table::state::over: return;
    case answer_table::state::done: again.push_back(*by.answers.find(number)); return;
    case answer_table::state::running: sends.push_back(reply_to(m, wire_type::grant)); return;
    case answer_table::state::full:
        sends.push_back(error_to(m, error_code::resource_exhausted,
                                 self_.name + ": " + std::to_string(answer_table::most) + " requests are open"));
        return;
    case answer_table::state::fresh: break;
    }
    const auto given_up = std::make_shared<cancellation>();
    by.running[number] = given_up;
    sends.push_back(reply_to(m, wire_type::grant));
    auto reply = [weak = weak_from_this(), incarnation, number](std::exception_ptr problem, wire_answer a) {
        if (const auto self = weak.lock()) self->answer(incarnation, number, problem, std::move(a));
    };
    if (is_probe) { // it was accepted before, and is not known: that can't be
        run = [reply] { reply(std::make_exception_ptr(aborted("the request is not known any more")), {}); };
        return;
    }
    incoming_request request{.method = static_cast<wire_method>(m.head.method),
                             .session = m.head.session,
                             .meta = std::move(m.meta),
                             .payload = std::move(m.payload),
                             .caller = by.name,
                             .caller_incarnation = incarnation,
                             .given_up = given_up};
    if (m.head.time_left != wire_header::no_deadline)
        request.deadline = env_.now_plus(std::chrono::milliseconds(m.head.time_left));
    run = [this, self = shared_from_this(), request = std::move(request), reply] {
        try {
            handler_(request, reply);
        } catch (...) {
            reply(std::current_exception(), {});
        }
    };
}

RILL_COLD void responder::answer(std::uint64_t incarnation, std::uint64_t request, const std::exception_ptr& problem,
                                 wire_answer answer) {
    wire_message m;
    m.head.type = wire_type::response;
    m.head.sender = self_.incarnation;
    m.head.receiver = incarnation;
    m.head.request = request;
    if (problem) {
        const auto [code, text] = described(problem);
        m = error_to(m, code, text);
        m.head.receiver = incarnation;
    } else {
        m.meta = std::move(answer.meta);
        m.payload = std::move(answer.payload);
    }
    message_parts parts;
    try {
        parts = pack_message(m, net_->needs_checksums());
    } catch (const error& e) { // arguments longer than a message may have
        m = error_to(m, e.code(), e.what());
        m.head.receiver = incarnation;
        parts = pack_message(std::move(m), net_->needs_checksums());
    }
    std::shared_ptr<cancellation> gone; // destroyed after the lock is released: callbacks may own much
    transport::connection to = 0;
    {
        const std::lock_guard lock(mutex_);
        const auto by = callers_.find(incarnation);
        if (closed_ || by == callers_.end()) return;
        const auto at = by->second.running.find(request);
        if (at == by->second.running.end()) return;
        gone = std::move(at->second);
        by->second.running.erase(at);
        by->second.answers.record(request, parts);
        to = by->second.last;
    }
    net_->send(to, std::move(parts));
}

/// Watches for callers that fall silent while their requests run.
RILL_COLD void responder::watch() {
    if (watches_) return;
    bool any = false;
    for (const auto& [incarnation, c] : callers_) any |= !c.running.empty();
    if (!any) return;
    watches_ = true;
    timer_ = env_.at(env_.now_plus(health_.slow), [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->look();
    });
}

RILL_COLD void responder::look() {
    std::vector<std::shared_ptr<cancellation>> lost;
    {
        const std::lock_guard lock(mutex_);
        watches_ = false;
        if (closed_) return;
        for (auto& [incarnation, c] : callers_)
            if (env_.now() - c.heard >= health_.dead)
                for (auto& [number, r] : c.running) lost.push_back(r);
        watch();
    }
    for (const auto& r : lost) r->cancel();
}

}}} // namespace rill::RILL_ABI::detail
