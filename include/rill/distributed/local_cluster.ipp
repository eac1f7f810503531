// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/local_cluster.hpp>

#include <atomic>
#include <vector>

namespace rill { inline namespace RILL_ABI {

RILL_COLD local_cluster::local_cluster(const std::map<std::string, int>& tasks, const local_cluster_options& options)
    : options_(options), net_(options.environment ? *options.environment : environment::real()) {
    static std::atomic<unsigned> made{0};
    const auto number = std::to_string(made++);
    std::vector<cluster_spec::job> jobs;
    for (const auto& [job, count] : tasks) {
        auto& j = jobs.emplace_back();
        j.name = job;
        for (int i = 0; i < count; ++i) j.tasks.push_back("cluster" + number + "/" + job + "/" + std::to_string(i));
    }
    spec_ = cluster_spec(std::move(jobs));
    for (const auto& [job, count] : tasks)
        for (int i = 0; i < count; ++i) restart(job, i);
}

RILL_COLD local_cluster::~local_cluster() = default;

RILL_COLD server& local_cluster::at(const std::string& job, int task) {
    const auto found = servers_.find({job, task});
    if (found == servers_.end()) throw not_found("the cluster has no server " + task_name(job, task));
    return *found->second;
}

RILL_COLD void local_cluster::kill(const std::string& job, int task) {
    at(job, task).kill();
    servers_.erase({job, task});
}

RILL_COLD void local_cluster::restart(const std::string& job, int task) {
    auto& there = servers_[{job, task}];
    if (there) throw already_exists("the server " + task_name(job, task) + " runs");
    there = std::make_unique<server>(
        spec_, job, task,
        server_options{.net = net_.join(), .health = options_.health, .environment = options_.environment});
}

}} // namespace rill::RILL_ABI
