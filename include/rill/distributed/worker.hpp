// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rill/core/file_access.hpp>
#include <rill/device/kernel.hpp>
#include <rill/distributed/peer_channels.hpp>
#include <rill/distributed/responder.hpp>
#include <rill/distributed/wire_meta.hpp>
#include <rill/distributed/wire_rendezvous.hpp>
#include <rill/resources/container_set.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The worker of a task. It keeps the parts of runs that masters have registered and runs their steps. It holds the state of the task in
/// its containers. It closes a session whose master is gone or no longer knows it. It accepts a value only from the task at the other end
/// of its edge. Thread-safe.
class worker : public std::enable_shared_from_this<worker> {
public:
    /// Creates a worker. `memory` holds all state and steps of the task. `files` are the files that steps may open; null: none.
    worker(std::shared_ptr<peer_channels> peers, allocator& memory, std::shared_ptr<const file_access> files = nullptr);
    ~worker();

    /// Serves a request from the wire.
    void handle(const incoming_request& request, const answer_function& reply);
    /// Ends all sessions.
    void close() noexcept;

    // The same requests without the wire, for the master of this task.

    /// Registers a part from the bytes of its graph. Throws the errors of loading a graph. `master`: the task that leads the session.
    void register_run(const session_number& session, const register_meta& part, std::string_view graph_bytes,
                      const task_identity& master);
    /// Runs a step of a registered part; `done` gets the fetched values, or the error. invalid_argument: number or type of the feeds are
    /// wrong. already_exists: the step has begun before. `trace` must live until then.
    void run_part(const session_number& session, const step_meta& step, std::vector<any_array> feeds,
                  std::chrono::steady_clock::time_point deadline, step_trace* trace, completion done);
    /// Ends a step with an error that arose elsewhere.
    void abort_step(const session_number& session, std::uint64_t step, const std::exception_ptr& problem);
    /// Drops a part. Running steps of it continue.
    void drop_run(const session_number& session, std::uint64_t run);
    void close_session(const session_number& session);
    /// Empties containers, and opens a fence.
    void reset(const std::vector<std::string>& containers);
    /// Lets a session replace the state of the task. While the fence is closed, steps of other sessions end with `aborted`. Later steps of
    /// parts that they registered before also do, since these refer to the old state. `done` is called once no such step runs.
    void fence(const session_number& by, bool closes, std::function<void()> done);
    /// Returns the devices of the task with their memory. Their names do not include the task.
    static devices_meta devices();

    const std::shared_ptr<container_set>& containers() const noexcept { return containers_; }
    /// Returns the number of sessions that have parts here.
    std::size_t sessions() const;
    /// Returns the progress that the task reports to its peers.
    pong_meta progress() const;

private:
    struct registered_part;
    struct early_value;
    using early_values = std::vector<early_value>;
    struct running_step;
    struct session_state;

    /// Returns a session; null if there is none.
    std::shared_ptr<session_state> find(const session_number& number);
    /// Returns the error for a session that the task does not know.
    std::exception_ptr unknown_session();
    std::shared_ptr<session_state> find_or_make(const session_number& number, int replica, const task_identity& master);
    void watch();
    void look();
    void take_push(const incoming_request& request, const answer_function& reply);
    /// Throws permission_denied unless an edge of a part carries values of this caller.
    static void check_sender(const registered_part& part, std::uint32_t edge, const std::string& caller);
    /// Throws resource_exhausted if a caller has more values in steps that have not begun than the protocol allows.
    static void check_early(const session_state& in, const std::string& caller);
    /// Returns the error of a step. A timeout error says who waits for which values.
    std::exception_ptr explained(const std::exception_ptr& problem, const wire_rendezvous& exchange) const;
    /// Notes a step as begun, and takes its `early` values. Throws the error of a step that can't begin.
    std::shared_ptr<running_step> begin_step(session_state& in, const session_number& session, const step_meta& meta,
                                             std::span<const any_array> feeds, early_values& early);
    void end_step(session_state& in, std::uint64_t number);
    void fail_to_send(const session_number& session, std::uint64_t number, const std::exception_ptr& problem);
    /// Returns the error for a step of a session other than the one that closed the fence; null if it may run.
    std::exception_ptr fence_problem(const session_number& session) const;
    void end(session_state& gone, const char* state_ends, const std::exception_ptr& why) noexcept;

    const std::shared_ptr<peer_channels> peers_;
    allocator& memory_;
    const std::shared_ptr<const file_access> files_;
    const std::shared_ptr<container_set> containers_;
    mutable std::mutex mutex_;
    bool closed_ = false;
    std::map<session_number, std::shared_ptr<session_state>> sessions_;
    std::vector<std::weak_ptr<session_state>> closed_sessions_; // their last steps may still run
    std::optional<session_number> fenced_by_;
    bool watches_ = false;
    environment::timer timer_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/worker.ipp>
#include <rill/distributed/worker_fence.ipp>
#include <rill/distributed/worker_requests.ipp>
#include <rill/distributed/worker_sessions.ipp>
#endif
