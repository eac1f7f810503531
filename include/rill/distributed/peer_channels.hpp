// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rill/distributed/channel.hpp>
#include <rill/graph/cluster_spec.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The channels of a task to the other tasks of its cluster, each made on first use. Thread-safe.
class peer_channels {
public:
    peer_channels(cluster_spec cluster, task_identity self, std::shared_ptr<transport> net, environment& runs_in,
                  const health_options& health);
    ~peer_channels() { close(); }

    /// Returns the channel to a task by its name, "/job:ps/replica:0/task:0". Throws not_found if the cluster has no such task.
    std::shared_ptr<channel> to(const std::string& task);
    /// Returns the bytes of the values that the task has sent to others.
    std::uint64_t bytes_sent();
    /// Counts the beginning or end of a step of the task, or a value that it has sent or received.
    void note_progress() noexcept { progress_.fetch_add(1, std::memory_order_relaxed); }
    /// Returns the count of note_progress.
    std::uint64_t progress() const noexcept { return progress_.load(std::memory_order_relaxed); }
    /// Fails all calls with `unavailable`.
    void close() noexcept;

    const cluster_spec& cluster() const noexcept { return cluster_; }
    const task_identity& self() const noexcept { return self_; }
    environment& runs_in() const noexcept { return env_; }
    const health_options& health() const noexcept { return health_; }

private:
    const cluster_spec cluster_;
    const task_identity self_;
    const std::shared_ptr<transport> net_;
    environment& env_;
    const health_options health_;
    std::atomic<std::uint64_t> progress_{0};
    std::mutex mutex_;
    bool closed_ = false;
    std::map<std::string, std::shared_ptr<channel>> all_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/distributed/peer_channels.ipp>
#endif
