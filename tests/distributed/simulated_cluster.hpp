// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rill/distributed/client_links.hpp>
#include <rill/distributed/server.hpp>
#include <rill/graph/cluster_spec.hpp>

#include "distributed/simulator.hpp"

namespace simulator {

/// A cluster of two parameter servers and some workers in virtual time.
struct virtual_cluster {
    explicit virtual_cluster(std::uint64_t seed, const faults& f, bool starts = true, int workers = 2)
        : world(seed, f), spec{{"ps", {"virtual/ps0", "virtual/ps1"}}, {"worker", worker_addresses(workers)}} {
        if (!starts) return;
        for (const auto& t : spec.all_tasks()) start(t.job, t.task);
    }
    void start(const std::string& job, int task) {
        auto& env = world.start(rill::task_name(job, task));
        tasks[{job, task}] = &env;
        servers[{job, task}] = std::make_unique<rill::server>(
            spec, job, task,
            rill::server_options{.net = std::make_shared<simulated_net>(world, env), .environment = &env});
    }
    void kill(const std::string& job, int task) {
        world.time.note("kill " + rill::task_name(job, task));
        servers.at({job, task})->kill();
        servers.erase({job, task});
    }
    ~virtual_cluster() {
        servers.clear();
        world.time.run(); // what the servers have cancelled
    }

    static std::vector<std::string> worker_addresses(int workers) {
        std::vector<std::string> all;
        for (int k = 0; k < workers; ++k) all.push_back("virtual/worker" + std::to_string(k));
        return all;
    }

    simulated_world world;
    const rill::cluster_spec spec;
    std::map<std::pair<std::string, int>, simulated_world::task*> tasks;
    std::map<std::pair<std::string, int>, std::unique_ptr<rill::server>> servers;
};

/// A client in a task of its own. Sessions with its target reach a server of the cluster from there.
class virtual_client {
public:
    virtual_client(virtual_cluster& all, const std::string& name, const std::string& job, int number,
                   const rill::health_options& health = {})
        : task(all.world.start(name)), target("local://simulated/" + name) {
        to = std::make_shared<rill::detail::channel>(std::make_shared<simulated_net>(all.world, task), task,
                                                     rill::detail::client_identity(task),
                                                     all.spec.address({job, 0, number, "", -1}), "", health);
        rill::detail::the_client_links().add(target, to);
    }
    ~virtual_client() { rill::detail::the_client_links().remove(target, to); }

    simulated_world::task& task;
    const std::string target;
    std::shared_ptr<rill::detail::channel> to;
};

} // namespace simulator
