// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/resource.hpp>
#include <rill/distributed/channel.hpp>
#include <rill/runtime/options.hpp>
#include <rill/session/session_core.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A session as its client sees it: calls of its master. It regularly tells the master that the client is alive. Thread-safe.
class client_session : public std::enable_shared_from_this<client_session> {
public:
    /// Opens a session. Throws unavailable or deadline_exceeded if the server does not answer.
    static std::shared_ptr<client_session> open(std::shared_ptr<channel> to, const session_options& options);
    client_session(std::shared_ptr<channel> to, const session_options& options);
    ~client_session();

    struct prepared {
        std::uint64_t run = 0; // 0: an empty run
        std::vector<std::string> tasks;
    };
    /// Prepares a run: sends the part of the graph that it needs. Blocks, at most for the timeout of `how`, or until its token cancels.
    prepared prepare(const graph& g, const plan_key& key, const run_options* how = nullptr);
    /// Starts a step, and calls `done` at its end.
    void start(const prepared& run, std::span<const any_array> feeds, const run_options& how, completion done);
    /// Lets the master forget a run. Running steps of it continue.
    void release(const prepared& run) noexcept;
    /// Fails all steps, including later ones, with `cancelled`.
    void close(std::string_view why) noexcept;
    void check_open() const;

    /// Makes the tasks of a run serve this session alone, or all sessions again. Blocks.
    void fence(const prepared& run, bool closes);
    /// Returns the state of the resources in all tasks that the session has used. The container begins with the task: "/job:…|container".
    std::vector<saved_resource> saved_resources();
    void restore_resource(const saved_resource& saved);

    std::vector<session_device> devices();
    /// Returns the parts into which a run is partitioned.
    std::vector<run_part> parts(const graph& g, const plan_key& key);

    environment& runs_in() const noexcept { return to_->runs_in(); }

private:
    wire_request request(wire_method m, std::string meta = {}) const;
    wire_answer create(const std::string& meta);
    void keep();

    const std::shared_ptr<channel> to_;
    session_number number_;
    std::uint64_t master_ = 0; // its incarnation
    std::chrono::nanoseconds lease_{};
    mutable std::mutex mutex_;
    std::string closed_why_; // empty: open
    environment::timer timer_;
    std::uint64_t last_step_ = 0;
    std::map<std::uint64_t, std::uint64_t> steps_; // calls of running steps; 0: not called yet
};

/// Calls a method of a peer, and waits for its answer. Throws its error, and `cancelled` once the token of `how` cancels.
wire_answer call_and_wait(channel& to, wire_request request, const run_options* how = nullptr);

/// Empties containers in all tasks of a server's cluster. Throws unavailable or deadline_exceeded.
void reset_cluster(channel& to, const std::vector<std::string>& containers, std::chrono::nanoseconds timeout);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/client_session.ipp>
#endif
