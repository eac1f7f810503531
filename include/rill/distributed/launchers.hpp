// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <rill/core/credentials.hpp>
#include <rill/graph/cluster_spec.hpp>

namespace rill { inline namespace RILL_ABI {

/// A process as its launcher started it: the cluster, and which of its tasks the process is.
struct launched_task {
    cluster_spec cluster = {};
    std::string job = {};
    int task = 0;
};

struct launch_options {
    int ps = 0; // under Slurm and mpirun the first processes are so many tasks of /job:ps, the others of /job:worker
    int port = 2222; // of the first process of a machine, under Slurm and mpirun; the next one has the next port
    credentials security = {};              // for the exchange of addresses under mpirun
    std::chrono::milliseconds wait{60'000}; // the longest wait for the other processes in that exchange
};

/// Reads from the environment which task of which cluster this process is, from the first of these that is there:
/// - TF_CONFIG: {"cluster": {"ps": ["a:2222"], "worker": ["b:2222"]}, "task": {"type": "worker", "index": 0}}
/// - Slurm: SLURM_PROCID, SLURM_NTASKS, the list of nodes and the tasks of each
/// - mpirun of Open MPI, MPICH and Intel MPI. Processes of one machine need nothing more. Those of several exchange their addresses at
///   RILL_RENDEZVOUS=host:port, where process 0 listens.
/// Throws not_found if the process has no launcher, invalid_argument for variables that can't be read, and deadline_exceeded with the numbers
/// of the processes that have not come.
launched_task from_environment(const launch_options& options = {});

namespace detail {

/// Returns the value of an environment variable, or an empty text.
using variable_lookup = std::function<std::string(const std::string& name)>;

launched_task read_launch(const variable_lookup& variable, const launch_options& options);

/// Returns the names in a list of nodes of Slurm: "n[01-03,7],login" is n01, n02, n03, n7, login.
std::vector<std::string> nodes_of_list(std::string_view list);
/// Returns the numbers in a list of Slurm: "2(x3),1" is 2, 2, 2, 1.
std::vector<int> counts_of_list(std::string_view list);
launched_task task_of_tf_config(std::string_view json);
/// Returns the addresses of all processes: each one brings its own, and process 0 collects them at `rendezvous`.
std::vector<std::string> exchange_addresses(const std::string& rendezvous, int rank, int size, const std::string& own,
                                            const launch_options& options);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/launchers.ipp>
#endif
