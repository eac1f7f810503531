// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <rill/distributed/local_transport.hpp>
#include <rill/distributed/server.hpp>

namespace rill { inline namespace RILL_ABI {

struct local_cluster_options {
    health_options health = {};
    rill::environment* environment = nullptr; // null: the real one
};

/// A cluster whose servers all run in this process, for tests and examples: local_cluster all({{"ps", 1}, {"worker", 2}}).
class local_cluster {
public:
    /// Starts the servers. Throws invalid_argument for a job without tasks.
    explicit local_cluster(const std::map<std::string, int>& tasks, const local_cluster_options& options = {});
    ~local_cluster();
    local_cluster(const local_cluster&) = delete;

    const cluster_spec& spec() const noexcept { return spec_; }
    /// Returns a server. Throws not_found for one that does not exist or was killed.
    server& at(const std::string& job, int task);
    /// Ends a server like a killed process: peers are not told, and its state is lost.
    void kill(const std::string& job, int task);
    /// Starts a server that was killed, with a new incarnation.
    void restart(const std::string& job, int task);

private:
    const local_cluster_options options_;
    local_network net_;
    cluster_spec spec_;
    std::map<std::pair<std::string, int>, std::unique_ptr<server>> servers_;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/local_cluster.ipp>
#endif
