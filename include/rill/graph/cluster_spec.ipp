// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/cluster_spec.hpp>

#include <cstddef>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD cluster_spec::cluster_spec(std::vector<job> jobs) : jobs_(std::move(jobs)) {
    detail::hash_set<std::string> names, addresses;
    for (const auto& j : jobs_) {
        if (j.name.empty() || j.name.find('/') != std::string::npos)
            throw invalid_argument("cluster_spec: '" + j.name + "' is not a name of a job");
        if (!names.insert(j.name)) throw invalid_argument("cluster_spec: the job '" + j.name + "' is named twice");
        if (j.tasks.empty()) throw invalid_argument("cluster_spec: the job '" + j.name + "' has no tasks");
        for (const auto& a : j.tasks)
            if (a.empty() || !addresses.insert(a))
                throw invalid_argument("cluster_spec: the address '" + a + "' of job '" + j.name +
                                       (a.empty() ? "' is empty" : "' is given twice"));
    }
}

RILL_COLD const std::vector<std::string>& cluster_spec::tasks(const std::string& name) const {
    const auto at = detail::find_if(jobs_, [&](const job& j) { return j.name == name; });
    if (at != jobs_.end()) return at->tasks;
    std::string known;
    for (const auto& j : jobs_) known += (known.empty() ? "'" : "', '") + j.name;
    throw not_found("cluster_spec: there is no job '" + name + "'" +
                    (known.empty() ? "" : "; the cluster has " + known + "'"));
}

RILL_COLD const std::string& cluster_spec::address(const device_name& task) const {
    const auto& all = tasks(task.job);
    if (task.task < 0 || static_cast<std::size_t>(task.task) >= all.size())
        throw not_found("cluster_spec: the job '" + task.job + "' has no task " + std::to_string(task.task) + ", but " +
                        std::to_string(all.size()) + " tasks");
    return all[static_cast<std::size_t>(task.task)];
}

RILL_COLD std::vector<device_name> cluster_spec::all_tasks() const {
    std::vector<device_name> all;
    for (const auto& j : jobs_)
        for (std::size_t i = 0; i < j.tasks.size(); ++i) all.push_back({j.name, 0, static_cast<int>(i), "", -1});
    return all;
}

RILL_COLD std::string cluster_spec::digest() const {
    std::string text;
    for (const auto& j : jobs_) {
        text += j.name + "=";
        for (const auto& a : j.tasks) text += a + ",";
        text += ";";
    }
    return text;
}

RILL_COLD std::string task_name(const std::string& job, int task) {
    return to_string(device_name{job, 0, task, "", -1});
}

}} // namespace rill::RILL_ABI
