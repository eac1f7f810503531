// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/cancellation.hpp>
#include <rill/core/environment.hpp>
#include <rill/distributed/answers.hpp>
#include <rill/distributed/chunks.hpp>
#include <rill/distributed/message_delay.hpp>
#include <rill/distributed/task_identity.hpp>
#include <rill/distributed/wire_message.hpp>
#include <rill/distributed/wire_meta.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A request that a peer has sent.
struct incoming_request {
    wire_method method = wire_method::status;
    session_number session = {};
    std::string meta = {};
    std::vector<message_part> payload = {};
    std::string caller = {}; // name of the calling task
    std::uint64_t caller_incarnation = 0;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::shared_ptr<cancellation> given_up = {}; // cancelled when the caller no longer waits
};

/// A function that serves requests. It must not block. It may call `reply` later, once, from any thread. An exception that it throws
/// becomes the answer.
using request_handler = std::function<void(incoming_request request, answer_function reply)>;

/// The called side of a task: answers the requests of all peers that connect to its address, each once. It cuts off a peer that sends three
/// malformed messages within a minute. For malformed frames, the connection ends. For malformed arguments, the peer's later calls are
/// refused until it restarts. A request for which memory is out is answered with resource_exhausted, at the latest when its caller asks
/// again. Thread-safe.
class responder : public std::enable_shared_from_this<responder> {
public:
    /// Creates a responder. `most_bytes`: the limit on payloads that arrive in chunks, over all callers; 0: no limit. A request beyond it
    /// is refused with resource_exhausted. `progress`: returns the content of pongs; it may be called from any thread.
    responder(std::shared_ptr<transport> net, environment& runs_in, const task_identity& self,
              const health_options& health, request_handler handler, std::size_t most_bytes = 0,
              std::function<pong_meta()> progress = {});
    /// Starts to answer. Returns the address with its port. Chunks use connections to `data_address`, so that they do not delay other
    /// messages; empty: the same connections. Throws already_exists for an address in use.
    std::string listen(const std::string& address, const std::string& data_address = {});
    /// Tells the peers that the task stops, and stops answering.
    void close() noexcept;
    /// Returns the number of malformed messages.
    std::size_t refused() const;
    /// Returns the number of requests that came too late: their caller may have declared this task dead. They did not run.
    std::size_t late() const;

private:
    using time_point = environment::time_point;
    /// A request that has no answer yet.
    struct running_request {
        std::shared_ptr<cancellation> given_up = std::make_shared<cancellation>();
        bool is_lost = false; // its caller became silent: this task has cancelled it
    };
    /// A request whose payload arrives in chunks.
    struct arriving {
        wire_message message;
        chunk_receiver payload;
        time_point deadline;
    };
    /// The malformed messages of a connection or a caller within the latest minute.
    struct malformed {
        int count = 0;
        time_point first{};
        /// Counts a malformed message, and returns true for the third one.
        bool add(time_point now);
    };
    /// Incarnation and name of a caller. The incarnation alone does not give access to another caller's answers.
    using caller_key = std::pair<std::uint64_t, std::string>;
    struct caller {
        caller_key key;
        transport::connection last = 0;   // of the latest message, unless it carries data
        transport::connection pulled = 0; // of the latest message that asked for chunks
        time_point heard{};
        answer_table answers;
        std::map<std::uint64_t, running_request> running;
        std::map<std::uint64_t, arriving> incomplete; // requests whose payload has not come yet
        chunk_sender chunks;                          // payloads of answers
        message_delay delay;
        malformed bad; // arguments that could not be decoded
        bool is_cut_off = false;
    };

    /// The peer of a connection after its hello.
    struct greeting {
        caller_key who;
        bool carries_data = false;
    };

    /// The consequences of a message, carried out once the lock is released.
    struct reaction {
        std::vector<wire_message> sends;
        std::vector<message_parts> again; // answers that were sent before
        std::function<void()> run;
        std::uint64_t begins = 0; // the request that `run` handles, or whose payload is awaited
    };

    transport::receiver receiver();
    void receive(transport::connection from, const message_parts& parts);
    void react(transport::connection from, transport::connection chunks_to, reaction& to) noexcept;
    void on_hello(transport::connection from, const wire_message& m, std::vector<wire_message>& sends);
    /// Returns the running requests below a number. Their caller has cancelled them, and the cancel message was lost.
    static std::vector<std::uint64_t> abandoned(const caller& by, std::uint64_t below);
    void on_message(caller& by, wire_message m, reaction& to);
    void on_request(caller& by, wire_message m, time_point deadline, reaction& to);
    void on_chunk(caller& by, const wire_message& m, reaction& to);
    /// Removes a request whose payload arrives in chunks.
    arriving remove(caller& by, std::map<std::uint64_t, arriving>::iterator at);
    /// Returns the function that handles a request whose payload is complete.
    std::function<void()> running(caller& by, wire_message m, time_point deadline);
    void note_running(const caller_key& of, const wire_message& grant);
    wire_message pull(const wire_message& m, const arriving& a, bool again) const;
    void give_up(const caller_key& of, std::uint64_t request, bool is_lost);
    answer_function reply_to_request(const caller_key& of, std::uint64_t request);
    void answer(const caller_key& to_whom, std::uint64_t request, const std::exception_ptr& problem,
                wire_answer answer) noexcept;
    void try_answer(const caller_key& to_whom, std::uint64_t request, const std::exception_ptr& problem,
                    wire_answer answer);
    /// Ends a request without an answer and without an allocation: its caller gets resource_exhausted when it asks again.
    std::shared_ptr<cancellation> settle(caller& by, std::uint64_t request) noexcept;
    void send(transport::connection to, wire_message m) noexcept;
    bool is_lost(const caller_key& of, std::uint64_t request) const;
    std::string named_self() const { return self_.name + " (incarnation " + std::to_string(self_.incarnation) + ")"; }
    wire_message reply_to(const wire_message& m, wire_type type) const;
    wire_message error_to(const wire_message& m, error_code code, std::string text) const;
    void refuse_frame(transport::connection from);
    /// Counts malformed arguments of a caller.
    void refuse_arguments(caller& by);
    void refuse_arguments(const caller_key& of);
    void watch();
    void look();

    const std::shared_ptr<transport> net_;
    environment& env_;
    const task_identity self_;
    const health_options health_;
    const request_handler handler_;
    const std::size_t most_bytes_;
    const std::function<pong_meta()> progress_;

    mutable std::mutex mutex_;
    bool closed_ = false;
    std::string data_address_;
    std::map<transport::connection, greeting> greeted_;
    std::map<caller_key, caller> callers_;
    std::map<transport::connection, malformed> bad_; // malformed frames
    std::size_t refused_ = 0, late_ = 0;
    std::uint64_t arrived_ = 0; // bytes of incomplete payloads
    bool watches_ = false;
    time_point looks_at_{};
    environment::timer timer_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/responder.ipp>
#include <rill/distributed/responder_answers.ipp>
#endif
