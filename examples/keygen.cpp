// SPDX-License-Identifier: BSD-3-Clause
// Makes keys for the tasks and the clients of a cluster: `keygen worker/0 worker/1 alice` writes worker0.key, worker1.key and alice.key into
// the current folder, each for its owner alone, and a line for each in cluster.pub, the list that all of them need beside their keys.
// Without arguments it tries that out: two tasks with keys, in a folder of their own.
#include <filesystem>
#include <iostream>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) std::cout << write_keys(argv[i]) << '\n';
    if (argc > 1 || !has_child_processes) return 0;

    const std::string folder = "keygen_keys";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    const auto of_ps = write_keys("ps/0", folder), of_worker = write_keys("worker/0", folder);
    const auto at = free_addresses(2);
    const cluster_spec cluster{{"ps", {at[0]}}, {"worker", {at[1]}}};
    const server ps(cluster, "ps", 0, {.security = curve(of_ps)});
    const server worker(cluster, "worker", 0, {.security = curve(of_worker)});
    const auto secret = [] {
        const device_scope on("/job:ps");
        return variable<float>("secret", 42.f);
    }();
    const session s({.target = worker.target()});
    s.run(secret.initializer());
    expect(s.run(secret) == 42.f, "tasks with keys understand each other");
    std::cout << "two tasks with keys have exchanged a value\n";
    std::filesystem::remove_all(folder); // the tasks have read their keys
}
