// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/replica_device_setter.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::size_t round_robin(const node_info&, std::span<const server_load> loads) {
    std::size_t all = 0;
    for (const auto& l : loads) all += l.nodes;
    return all % loads.size();
}

RILL_COLD std::size_t by_bytes(const node_info&, std::span<const server_load> loads) {
    const auto least =
        std::min_element(loads.begin(), loads.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
    return static_cast<std::size_t>(least - loads.begin());
}

namespace detail {

/// Returns a device function for a number of parameter servers.
inline device_function device_setter(int tasks, const device_name& ps, const setter_options& options) {
    if (tasks < 1)
        throw invalid_argument("replica_device_setter: ps_tasks is " + std::to_string(tasks) + "; it must be at least 1");
    (void)parse_device(options.worker); // reports a malformed name here
    // copies of the returned function share the loads
    const auto loads = std::make_shared<std::vector<server_load>>(static_cast<std::size_t>(tasks));
    return [loads, ps, options](const node_info& n) -> std::string {
        if (n.colocated) return {};
        if (!n.is_variable() && !n.is_resource()) return options.worker;
        const auto chosen = options.strategy(n, *loads);
        if (chosen >= loads->size())
            throw invalid_argument("replica_device_setter: the strategy has chosen task " + std::to_string(chosen) +
                                   " for '" + std::string(n.name) + "'; the job '" + ps.job + "' has " +
                                   std::to_string(loads->size()));
        auto& load = (*loads)[chosen];
        ++load.nodes;
        for (const auto& t : n.outputs)
            if (t.countable()) load.bytes += t.bytes();
        auto d = ps;
        d.task = static_cast<int>(chosen);
        return to_string(d);
    };
}

} // namespace detail

RILL_COLD device_function replica_device_setter(const cluster_spec& cluster, const setter_options& options) {
    const auto ps = parse_device(options.ps);
    const auto there = static_cast<int>(cluster.tasks(ps.job).size());
    const int tasks = options.ps_tasks.value_or(there);
    if (tasks > there)
        throw invalid_argument("replica_device_setter: ps_tasks is " + std::to_string(tasks) + "; the job '" + ps.job +
                               "' has " + std::to_string(there));
    return detail::device_setter(tasks, ps, options);
}

RILL_COLD device_function replica_device_setter(const setter_options& options) {
    if (!options.ps_tasks)
        throw invalid_argument("replica_device_setter: ps_tasks is missing; without a cluster it tells the number of "
                               "parameter servers");
    const auto ps = parse_device(options.ps);
    if (ps.job.empty())
        throw invalid_argument("replica_device_setter: ps is '" + options.ps + "'; it must name a job");
    return detail::device_setter(*options.ps_tasks, ps, options);
}

}} // namespace rill::RILL_ABI
