// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rill/distributed/cluster_session.hpp>
#include <rill/distributed/responder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The master of a task: it serves the sessions of clients. A client ends its session. A session without running steps also ends if
/// its client has been silent for the time of its lease. Thread-safe.
class master : public std::enable_shared_from_this<master> {
public:
    master(std::shared_ptr<peer_channels> peers, std::shared_ptr<worker> own)
        : peers_(std::move(peers)), own_(std::move(own)) {}

    static bool serves(wire_method m) noexcept { return is_for_master(m); }
    /// Serves a request of a client.
    void handle(const incoming_request& request, const answer_function& reply);
    /// Ends all sessions.
    void close() noexcept;
    /// Returns the number of open sessions.
    std::size_t sessions() const;

private:
    struct open_session {
        std::shared_ptr<cluster_session> of;
        std::map<std::uint64_t, std::shared_ptr<const cluster_run>> runs;
        environment::time_point heard{};
        std::size_t running = 0; // steps and preparations
    };

    std::shared_ptr<open_session> find(const session_number& number);
    /// Throws `aborted` if the session is not open. It does not count as a sign of the client's life.
    void check_known(const session_number& number) const;
    void create(const incoming_request& request, const answer_function& reply);
    void prepare(const incoming_request& request, const answer_function& reply);
    void run(const incoming_request& request, const answer_function& reply);
    void release(const incoming_request& request);
    void end(const session_number& number, const std::string& why) noexcept;
    void reset(const incoming_request& request, const answer_function& reply);
    void list_devices(const incoming_request& request, const answer_function& reply);
    void cut(const incoming_request& request, const answer_function& reply);
    void fence(const incoming_request& request, const answer_function& reply);
    void save_state(const incoming_request& request, const answer_function& reply);
    void restore_state(const incoming_request& request, const answer_function& reply);
    /// Returns the answer function of a request that keeps its session open until it has ended.
    answer_function begin(const std::shared_ptr<open_session>& in, const answer_function& reply);
    void fence_tasks(const incoming_request& request, const cluster_run& run, const answer_function& ends);
    void collect_state(const incoming_request& request, const cluster_session& of, const answer_function& ends);
    void spread_state(const incoming_request& request, const answer_function& ends);
    void watch();
    void look();

    const std::shared_ptr<peer_channels> peers_;
    const std::shared_ptr<worker> own_;
    mutable std::mutex mutex_;
    bool closed_ = false;
    std::map<session_number, std::shared_ptr<open_session>> sessions_;
    bool watches_ = false;
    environment::timer timer_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/master.ipp>
#include <rill/distributed/master_state.ipp>
#endif
