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

/// A process as its launcher started it: the cluster, and the task of the process.
struct launched_task {
    cluster_spec cluster = {};
    std::string job = {};
    int task = 0;
};

struct launch_options {
    int ps = 0; // under Slurm and mpirun: the number of tasks of /job:ps, from process 0 on; the others are /job:worker
    int port = 2222; // under Slurm and mpirun: of a machine's first process; each further one adds 1
    credentials security = {};              // for the exchange of addresses under mpirun
    std::chrono::milliseconds wait{60'000}; // the longest wait for the other processes in that exchange
};

/// Reads the cluster and the task of this process from the environment. The first of these sources that exists counts:
/// - TF_CONFIG: {"cluster": {"ps": ["a:2222"], "worker": ["b:2222"]}, "task": {"type": "worker", "index": 0}}
/// - Slurm: SLURM_PROCID, SLURM_NTASKS, the list of nodes and the tasks of each
/// - mpirun of Open MPI, MPICH and Intel MPI. Processes of one machine need no setup. Processes of several exchange addresses at
///   RILL_RENDEZVOUS=host:port, where process 0 listens.
/// Throws not_found if the process has no launcher, and invalid_argument for malformed variables. Throws deadline_exceeded with the numbers
/// of the processes that did not arrive.
launched_task from_environment(const launch_options& options = {});

namespace detail {

/// A function that returns the value of an environment variable, or an empty text.
using variable_lookup = std::function<std::string(const std::string& name)>;

launched_task read_launch(const variable_lookup& variable, const launch_options& options);

/// Returns the names in a list of nodes of Slurm: "n[01-03,7],login" is n01, n02, n03, n7, login.
std::vector<std::string> nodes_of_list(std::string_view list);
/// Returns the numbers in a Slurm list: "2(x3),1" is 2, 2, 2, 1.
std::vector<int> counts_of_list(std::string_view list);
launched_task task_of_tf_config(std::string_view json);
/// Returns the addresses of all processes. Each one sends its own, and process 0 collects them at `rendezvous`.
std::vector<std::string> exchange_addresses(const std::string& rendezvous, int rank, int size, const std::string& own,
                                            const launch_options& options);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/distributed/launchers.ipp>
#endif
