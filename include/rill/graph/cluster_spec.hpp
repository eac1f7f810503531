// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <rill/core/device_name.hpp>

namespace rill { inline namespace RILL_ABI {

/// The jobs of a cluster, with the addresses of their tasks: {{"ps", {"10.0.0.1:2222"}}, {"worker", {"10.0.0.2:2222", "10.0.0.3:2222"}}}.
class cluster_spec {
public:
    struct job {
        std::string name;
        std::vector<std::string> tasks; // addresses; the task's number is its place
    };

    cluster_spec() = default;
    /// Makes the description. Throws invalid_argument if a job has no name or tasks, or if two jobs share a name. Throws it also for an
    /// empty or duplicate address.
    cluster_spec(std::initializer_list<job> jobs) : cluster_spec(std::vector<job>(jobs)) {}
    explicit cluster_spec(std::vector<job> jobs);

    const std::vector<job>& jobs() const noexcept { return jobs_; }
    /// Returns the addresses of a job's tasks. Throws not_found.
    const std::vector<std::string>& tasks(const std::string& job) const;
    /// Returns the address of a task. Throws not_found.
    const std::string& address(const device_name& task) const;
    /// Returns the names of all tasks, job by job.
    std::vector<device_name> all_tasks() const;
    /// Returns a text that identifies the description: equal texts mean equal descriptions.
    std::string digest() const;

private:
    std::vector<job> jobs_;
};

/// Returns the name of a task without a device: "/job:ps/replica:0/task:1".
std::string task_name(const std::string& job, int task);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/graph/cluster_spec.ipp>
#endif
