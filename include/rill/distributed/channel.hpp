// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/environment.hpp>
#include <rill/distributed/answers.hpp>
#include <rill/distributed/chunks.hpp>
#include <rill/distributed/retry_budget.hpp>
#include <rill/distributed/task_identity.hpp>
#include <rill/distributed/wire_message.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The longest wait of chunks for an answer from the peer's data address, which a firewall may block.
inline constexpr std::chrono::milliseconds time_for_data{500};

/// The calls of this task to one peer. Lost messages are sent again, but each call runs at most once. A call ends with its answer, or with
/// deadline_exceeded at its deadline. It ends with `unavailable` once the peer is dead, and with `aborted` if the peer restarts. A call for
/// which memory is out ends with resource_exhausted. A peer whose steps make no progress while a call waits is reported in the log.
/// Thread-safe.
class channel : public std::enable_shared_from_this<channel> {
public:
    /// Creates a channel. `peer`: the name of the task at the address; empty: any task. The peer's answer then has the name.
    channel(std::shared_ptr<transport> net, environment& runs_in, const task_identity& self, std::string address,
            std::string peer, const health_options& health);
    ~channel();

    /// Calls a method, and returns the number of the call. `done` runs once, on a thread of the environment or within this call. Pushed values
    /// wait for flow control. All other calls overtake them, and values of up to 1 MiB overtake larger ones. A push also ends with
    /// deadline_exceeded if the peer accepts nothing of it for health_options::control.
    std::uint64_t call(wire_request request, answer_function done);
    /// Asks the peer to cancel a call. The call ends with the peer's answer, or soon with `why`.
    void give_up(std::uint64_t call, const std::exception_ptr& why);
    /// Fails all calls, including later ones.
    void close(const std::exception_ptr& why) noexcept;

    /// The maximum number of unanswered pushes. The peer keeps an open request for each; the rest of its table is left to other calls.
    static constexpr std::size_t most_pushes = answer_table::most / 4;

    environment& runs_in() const noexcept { return env_; }
    const health_options& times() const noexcept { return health_; }
    /// Returns the name of the peer, or its address before the first answer.
    std::string peer() const;
    peer_health health() const;
    /// Returns the last known incarnation of the peer; 0 before the first answer.
    std::uint64_t incarnation() const;
    /// Returns the bytes of the values that calls have sent to the peer. Each call counts once.
    std::uint64_t bytes_sent() const;

private:
    using time_point = environment::time_point;
    struct pending {
        wire_request request;
        answer_function done;
        std::size_t bytes = 0;     // of the payload
        std::uint64_t sent_to = 0; // incarnation; 0: not sent
        bool accepted = false;
        bool has_asked = false; // asked the peer for its incarnation, since another one is expected
        bool is_push = false; // counts against the window
        bool is_long = false; // the payload goes in chunks
        int tries = 0;
        time_point again{}, expires = time_point::max();
        time_point due = time_point::max(); // its entry in due_
        std::exception_ptr given_up;
        std::unique_ptr<chunk_receiver> answer; // its payload, which is arriving
        std::string answer_meta;
    };
    using calls = std::map<std::uint64_t, pending>;
    /// Callbacks that must wait until the lock is released.
    struct actions {
        std::vector<std::pair<answer_function, std::exception_ptr>> failures;
        answer_function answered = nullptr;
        wire_answer answer = {};
        std::string warning = {}; // for the log
    };
    enum class link { idle, greeting, open };
    /// The connection to the peer's data address, which carries chunks. On a shared connection they would delay other messages. Without it,
    /// chunks use the first connection.
    struct data_link {
        std::string address; // empty: the peer has none, or does not answer there
        transport::connection at = 0;
        link state = link::idle;
        time_point greeted{};
        int losses = 0; // consecutive chunks that had to be requested again
    };

    transport::receiver receiver();
    void receive(transport::connection from, const message_parts& parts);
    void on_message(wire_message m, actions& todo);
    void on_data_greeting(const wire_message& m, actions& todo);
    void share_for_data(actions& todo);
    void note_loss(actions& todo);
    void on_welcome(const wire_message& m, actions& todo);
    void on_sign_of_life(wire_message m, actions& todo);
    void note_progress(const wire_message& pong, actions& todo);
    void on_answer(calls::iterator at, wire_message m, actions& todo);
    void on_chunk(calls::iterator at, const wire_message& m, actions& todo);
    void on_incarnation(std::uint64_t now, actions& todo);
    void answered(calls::iterator at);
    void connect();
    void greet();
    void connect_for_data();
    void greet_for_data();
    void disconnect_data();
    bool awaits_data(time_point now) const;
    void pull_all();
    void pump(actions& todo);
    calls::iterator first_of(std::deque<std::uint64_t>& queue);
    bool has_room(const pending& p) const;
    time_point end_of(const pending& p) const;
    std::exception_ptr restarted(std::uint64_t was) const;
    void send(std::uint64_t number, pending& p, bool again);
    void send_short(wire_type type, std::uint64_t request, std::uint8_t flags = 0);
    void pull(std::uint64_t number, const pending& p, bool again);
    void tick();
    void on_due(calls::iterator at, time_point now, actions& todo);
    void schedule();
    void set_due(std::uint64_t number, pending& p);
    void set_again(std::uint64_t number, pending& p, int tries);
    bool is_silent(time_point now) const { return now - heard_ > health_.slow; }
    void check_health(time_point now, actions& todo);
    void fail_all(const std::exception_ptr& why, actions& todo);
    calls::iterator fail(calls::iterator at, const std::exception_ptr& why, actions& todo);
    calls::iterator remove(calls::iterator at);
    void fail_one(std::uint64_t number, const std::exception_ptr& why, actions& todo);
    /// Fails all calls without an allocation, after an exception that may have left the state half changed.
    void break_down(const std::exception_ptr& why) noexcept;
    static void tell(const answer_function& done, const std::exception_ptr& problem, wire_answer a) noexcept;
    void perform(actions todo) noexcept;
    void drain() noexcept;
    wire_header header(wire_type type) const;
    std::chrono::nanoseconds backoff(int tries);
    std::string named_peer() const { return peer_.empty() ? address_ : peer_; }
    std::string state_text(time_point now) const;
    std::string progress_text(time_point now) const;

    const std::shared_ptr<transport> net_;
    environment& env_;
    const task_identity self_;
    const std::string address_;
    const health_options health_;

    mutable std::mutex mutex_;
    std::string peer_; // empty: not known yet
    link link_ = link::idle;
    transport::connection connection_ = 0;
    data_link data_;
    std::uint64_t incarnation_ = 0;
    bool is_dead_ = false;
    std::exception_ptr closed_;
    time_point heard_{}, pinged_{}, greeted_{}, greets_again_{};
    int greetings_ = 0;
    std::uint64_t progress_ = 0; // of the peer, by its latest pong
    std::string oldest_;         // the wait of the peer's oldest step; empty: no step is known to run
    time_point progressed_{};    // when its progress was first heard of
    bool has_warned_ = false;    // since then
    std::uint64_t last_ = 0;
    calls calls_;
    std::set<std::pair<time_point, std::uint64_t>> due_; // the times at which calls need attention
    std::deque<std::uint64_t> controls_, values_,
        long_values_;                                  // calls that wait; values: pushes in one message, or in chunks
    std::size_t values_out_ = 0, long_values_out_ = 0; // bytes of pushes that the peer has not accepted yet
    std::size_t pushes_out_ = 0;                       // and their number
    chunk_sender chunks_;
    std::deque<wire_message> outbox_; // in order; one thread at a time sends them
    bool drains_ = false;
    std::uint64_t bytes_sent_ = 0;
    retry_budget retries_;
    time_point ticks_at_ = time_point::max();
    environment::timer timer_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/channel.ipp>
#include <rill/distributed/channel_ends.ipp>
#include <rill/distributed/channel_events.ipp>
#endif
