// SPDX-License-Identifier: BSD-3-Clause
// Real handwriting (see data/README.md), learnt by two workers at once: the parameters lie on one parameter server, then on two, each of them
// and each worker a process. Every worker pulls the parameters, computes gradients of images of its own, and pushes them when it is done
// (asynchronous training). This process is the first worker; it starts the others of itself.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"
#include "handwriting.hpp"

using namespace rill;

namespace {

constexpr int workers = 2, steps = 1200; // of each worker

/// Trains as one of the workers. Returns the accuracy at the end; the first worker shows its progress.
float train(const cluster_spec& cluster, int task) {
    const handwriting::digits data;
    const server node(cluster, "worker", task);
    const graph g;
    const graph_scope use(g);
    const device_scope on(
        replica_device_setter(cluster, {.worker = "/job:worker/task:" + std::to_string(task), .strategy = by_bytes}));
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const auto logits = dense<128, 10>("logits", relu(dense<64, 128>("hidden", image)));
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), label)));
    const auto update = adam({.learning_rate = 1e-3f}).minimize(loss);

    const session s({.target = node.target(), .replica = task});
    if (task == 0) s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, update), image, label);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 1; i <= steps; ++i) {
        const auto b = data.batch_of(task, i);
        float l = 0;
        for (bool done = false; !done;) {
            try {
                l = std::get<0>(step(b.images, b.labels));
                done = true;
            } catch (const failed_precondition&) { // the first worker has not initialised the variables yet
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        }
        if (task == 0 && i % (steps / 30) == 0) {
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            const auto filled = static_cast<std::size_t>(30 * i / steps);
            std::printf("\r  [%s%s]  loss %.4f  %.0f steps/s ", std::string(filled, '#').c_str(),
                        std::string(30 - filled, '.').c_str(), static_cast<double>(l), i / seconds);
            std::fflush(stdout);
        }
    }
    if (task != 0) return 1.f;
    const auto test = data.test();
    return s.run(accuracy, feed(image, test.images), feed(label, test.labels));
}

/// Returns the cluster of such addresses: the first are parameter servers.
cluster_spec make_cluster(const std::vector<std::string>& at) {
    return {{"ps", {at.begin(), at.end() - workers}}, {"worker", {at.end() - workers, at.end()}}};
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    if (argc > 3) { // a process that is started below: its job, its task, and the addresses of all
        const auto cluster = make_cluster({argv + 3, argv + argc});
        const int task = std::atoi(argv[2]);
        if (std::string(argv[1]) == "worker") {
            train(cluster, task);
            return 0;
        }
        server node(cluster, "ps", task);
        node.join();
        return 0;
    }
    for (const int servers : {1, 2}) {
        const auto at = free_addresses(servers + workers);
        const auto start = [&](const std::string& job, int task) {
            return start_task(argv[0], {job, std::to_string(task)}, at);
        };
        std::vector<std::unique_ptr<child_process>> others;
        for (int i = 0; i < servers; ++i) others.push_back(start("ps", i));
        const auto second = start("worker", 1);
        std::printf("%d parameter server%s, %d workers\n", servers, servers > 1 ? "s" : "", workers);
        const float accuracy = train(make_cluster(at), 0);
        std::printf("\n  accuracy %.3f\n", static_cast<double>(accuracy));
        expect(accuracy >= 0.96f, "handwriting is read");
        expect(second->wait() == 0, "the other worker has come to its end");
    }
}
