// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <rill/core/byte_units.hpp>
#include <rill/core/credentials.hpp>
#include <rill/core/environment.hpp>
#include <rill/core/file_access.hpp>
#include <rill/distributed/server_files.hpp>
#include <rill/distributed/task_identity.hpp>
#include <rill/distributed/transport.hpp>
#include <rill/graph/cluster_spec.hpp>

namespace rill { inline namespace RILL_ABI {

struct server_options {
    credentials security = {}; // curve("worker0.key"); without keys, only this machine reaches the task
    std::size_t memory = 0;    // the limit for steps and state, in bytes; 0: no limit
    std::shared_ptr<const file_access> files = {}; // below("data"): files that steps may open; null: none
    std::string data_address = {};                 // "host:port" for chunks of long values; empty: a free port
    std::shared_ptr<transport> net = {};           // null: the transport of the task's address, ZeroMQ for "host:port"
    health_options health = {};
    rill::environment* environment = nullptr; // null: the real one
};

/// A task of a cluster. It listens at its address, and runs its parts of all sessions. It is the master of the sessions that target it. Its
/// destructor stops it.
class server {
public:
    /// Starts the task. Throws not_found if the cluster has no such task, and already_exists if its address is in use. Throws
    /// permission_denied if other machines can reach the address and there are no keys.
    server(const cluster_spec& cluster, const std::string& job, int task, const server_options& options = {});
    server(server&&) noexcept;
    ~server();

    /// Returns the address for session_options::target and session::reset: "tcp://host:port", or "local://name" within this process.
    std::string target() const;
    /// Waits until another thread calls stop().
    void join();
    /// Ends all sessions and steps of the task, and tells the peers that wait for it.
    void stop() noexcept;
    /// Stops like a killed process: peers are not told. For tests.
    void kill() noexcept;
    /// Returns the health of another task, as this task's calls have observed it.
    peer_health health(const std::string& job, int task) const;
    /// Returns the incarnation of the task, a number drawn at its start.
    std::uint64_t incarnation() const;
    /// Returns the bytes of the values that the task has sent to others: fed values, and values of edges between tasks. Graphs count too.
    std::uint64_t bytes_sent() const;

    struct state;

private:
    std::shared_ptr<state> state_;
};

/// Starts a server of one task, /job:local/task:0, at a free port of this machine. Other programs open sessions at its target.
server create_local_server(const server_options& options = {});

namespace detail {

/// Enables sessions with a target. <rill/distributed.hpp> calls it.
bool register_servers();

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/server.ipp>
#endif
