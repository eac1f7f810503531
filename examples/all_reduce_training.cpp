// SPDX-License-Identifier: BSD-3-Clause
// Two workers learn handwriting without a parameter server: each has the variables, computes the gradients of a batch of its own, and updates
// by the mean over all workers (all_reduce). Each worker is a process; this one starts the other of itself. Both end with the same variables.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"
#include "handwriting.hpp"

using namespace rill;
using namespace handwriting;

namespace {

constexpr int workers = 2, steps = 150;

/// Trains as one of the workers, and returns the accuracy. The first worker shows its loss.
float train(const server& node, int rank) {
    const digits data;
    std::vector<std::string> tasks;
    for (int w = 0; w < workers; ++w) tasks.push_back("/job:worker/task:" + std::to_string(w));
    const collective_group all({.name = "handwriting", .ranks = workers, .rank = rank, .tasks = tasks});

    const graph g;
    const graph_scope use(g);
    const device_scope own(tasks[static_cast<std::size_t>(rank)]);
    const digit_model m;
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const auto loss = m.loss(image, label);
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(m.logits(image)), label)));
    const auto optimizer = adam(2e-3f);
    const operation update = optimizer.apply_gradients(all_reduce_gradients(optimizer.compute_gradients(loss), all));
    const auto checksum = reduce_sum(abs(m.w1)) + reduce_sum(abs(m.w2));
    const auto checksums = all_gather(checksum, all); // of all workers

    const session s({.target = node.target()});
    s.run(global_variables_initializer()); // the same values for all: the graphs are equal, and so are their seeds
    for (int step = 0; step < steps; ++step) {
        const auto b = data.batch_of(rank, step);
        const auto [l] = s.run(std::tuple(loss, update), feed(image, b.images), feed(label, b.labels));
        if (rank == 0 && (step == 0 || step == steps - 1)) std::printf("step %d: loss %.4f\n", step, static_cast<double>(l));
    }
    const auto sums = s.run(checksums);
    for (int w = 1; w < workers; ++w)
        expect(sums(static_cast<std::size_t>(w)) == sums(0), "all workers have the same variables, to the last bit");
    const auto test = data.test();
    return s.run(accuracy, feed(image, test.images), feed(label, test.labels));
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    const bool is_child = argc == 1 + workers + 1; // started below: the addresses of all, and its rank
    const auto at = is_child ? std::vector<std::string>(argv + 2, argv + argc) : free_addresses(workers);
    const cluster_spec cluster{{"worker", at}};
    if (is_child) {
        const int rank = std::atoi(argv[1]);
        train(server(cluster, "worker", rank), rank);
        return 0;
    }
    child_process second(argv[0], {"1", at[0], at[1]});
    const server node(cluster, "worker", 0); // until the other worker has come to its end: the values meet here
    const float accuracy = train(node, 0);
    std::printf("accuracy %.3f after %d steps of %d workers\n", static_cast<double>(accuracy), steps, workers);
    expect(accuracy >= 0.9f, "handwriting is read");
    expect(second.wait() == 0, "the other worker has come to its end");
}
