// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rill/core/environment.hpp>
#include <rill/distributed/task_identity.hpp>
#include <rill/distributed/wire_message.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The calls of this task to one peer. Each runs there once at most, although lost messages are sent again, and ends: with its answer, with
/// deadline_exceeded at its deadline, with `unavailable` once the peer is dead, with `aborted` if the peer restarts meanwhile. Thread-safe.
class channel : public std::enable_shared_from_this<channel> {
public:
    /// `peer`: the name of the task at the address.
    channel(std::shared_ptr<transport> net, environment& runs_in, const task_identity& self, std::string address,
            std::string peer, const health_options& health);
    ~channel();

    /// Calls a method. `done` runs on a thread of the environment, or within this call.
    void call(wire_request request, answer_function done);
    /// Fails all calls, also later ones.
    void close(const std::exception_ptr& why) noexcept;

    const std::string& peer() const noexcept { return peer_; }
    peer_health health() const;
    /// Returns the incarnation that the peer had last; 0 if it has not answered yet.
    std::uint64_t incarnation() const;
    /// Returns the bytes of the values that calls have carried to the peer, each call counted once.
    std::uint64_t bytes_sent() const;

private:
    using time_point = environment::time_point;
    struct pending {
        wire_request request;
        answer_function done;
        std::size_t bytes = 0;     // of the payload
        std::uint64_t sent_to = 0; // incarnation; 0: not sent
        bool accepted = false;
        int tries = 0;
        time_point asked{}, again{};
    };
    /// Actions that wait until the lock is released.
    struct actions {
        std::vector<wire_message> sends;
        std::vector<std::pair<answer_function, std::exception_ptr>> failures;
        answer_function answered = nullptr;
        wire_answer answer = {};
    };
    enum class link { idle, greeting, open };

    void receive(transport::connection from, const message_parts& parts);
    void on_welcome(const wire_message& m, actions& todo);
    void on_answer(wire_message m, actions& todo);
    void on_incarnation(std::uint64_t now, actions& todo);
    void connect(actions& todo);
    void greet(actions& todo);
    void pump(actions& todo);
    void send(std::uint64_t number, pending& p, bool again, actions& todo);
    void tick();
    void schedule();
    void check_health(time_point now, actions& todo);
    void fail_all(const std::exception_ptr& why, actions& todo);
    std::map<std::uint64_t, pending>::iterator fail(std::map<std::uint64_t, pending>::iterator at,
                                                    const std::exception_ptr& why, actions& todo);
    void perform(actions todo);
    wire_header header(wire_type type) const;
    std::chrono::nanoseconds backoff(int tries);
    std::string state_text(time_point now) const;

    const std::shared_ptr<transport> net_;
    environment& env_;
    const task_identity self_;
    const std::string address_, peer_;
    const health_options health_;

    mutable std::mutex mutex_;
    link link_ = link::idle;
    transport::connection connection_ = 0;
    std::uint64_t incarnation_ = 0;
    bool is_dead_ = false;
    std::exception_ptr closed_;
    time_point heard_{}, pinged_{}, greeted_{}, greets_again_{};
    int greetings_ = 0;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, pending> calls_;
    std::size_t bytes_out_ = 0; // of values that the peer has not taken yet
    std::uint64_t bytes_sent_ = 0;
    time_point ticks_at_ = time_point::max();
    environment::timer timer_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/channel.ipp>
#endif
