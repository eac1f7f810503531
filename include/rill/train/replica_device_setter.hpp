// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <rill/graph/cluster_spec.hpp>
#include <rill/graph/scope.hpp>

namespace rill { inline namespace RILL_ABI {

/// The load that a parameter server has been assigned so far.
struct server_load {
    std::size_t nodes = 0; // variables and resources
    std::uint64_t bytes = 0;
};

/// Chooses the parameter server of a variable or resource: a number below loads.size().
using server_strategy = std::function<std::size_t(const node_info& n, std::span<const server_load> loads)>;

/// Chooses the servers in turn.
std::size_t round_robin(const node_info& n, std::span<const server_load> loads);
/// Chooses the server with the fewest bytes; the first of several.
std::size_t by_bytes(const node_info& n, std::span<const server_load> loads);

struct setter_options {
    std::optional<int> ps_tasks = {};   // the number of parameter servers; by default all tasks of the cluster's job
    std::string ps = "/job:ps";         // the job that holds variables and resources
    std::string worker = "/job:worker"; // runs everything else
    server_strategy strategy = round_robin;
};

/// Returns a device function for one replica of data-parallel training: device_scope on(replica_device_setter(all.spec(), {.worker =
/// "/job:worker/task:1"})). It spreads variables and resources over the parameter servers. All other nodes run on the worker. Nodes that
/// are colocated with a variable, such as an optimizer's slots and look-ups in it, follow the variable. Equal graphs get equal devices.
/// Throws not_found if the cluster has no job `ps`, and invalid_argument if `ps_tasks` is below 1 or above the job's number of tasks.
device_function replica_device_setter(const cluster_spec& cluster, const setter_options& options = {});
/// Does the same for a number of parameter servers, without a description of the cluster: device_scope
/// on(replica_device_setter({.ps_tasks = 2, .ps = "/job:ps", .worker = "/job:worker"})). Throws invalid_argument if `ps_tasks` is missing or
/// below 1.
device_function replica_device_setter(const setter_options& options);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/train/replica_device_setter.ipp>
#endif
