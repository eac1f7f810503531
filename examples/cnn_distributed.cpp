// SPDX-License-Identifier: BSD-3-Clause
// A convolutional network that reads handwriting, trained by two workers with one parameter server, each a process. Each worker has copies of
// the parameters: it computes with them at once, sends its gradients, and gets the new values back with the end of the step
// (prefetched_parameters). Nobody waits for the other worker. This process is the chief; it starts the others of itself.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"
#include "handwriting.hpp"

using namespace rill;

namespace {

constexpr int workers = 2, steps = 1000; // of both together

/// Two convolutions and a layer that tells the digits.
struct network {
    variable<float, 3, 3, 1, 8> f1{"f1", he_normal(1)};
    variable<float, 8> b1{"b1", 0.f};
    variable<float, 3, 3, 8, 16> f2{"f2", he_normal(2)};
    variable<float, 16> b2{"b2", 0.f};
    variable<float, 64, 10> w{"w", glorot_uniform(3)};
    variable<float, 10> b{"b", 0.f};
    variable<std::int64_t> step = get_or_create_global_step();

    /// `near` gives the copy of a parameter.
    tensor<float, dyn, 10> logits(const tensor<float, dyn, 64>& image, prefetched_parameters& near) const {
        const tensor<float, dyn, 8, 8, 1> picture(reshape<dyn, 8, 8, 1>(image));
        const tensor<float, dyn, 4, 4, 8> first(max_pool<window{.size = {2, 2}}>(
            relu(conv2d<window{.padding = padding::same}>(picture, near(f1)) + near(b1))));
        const tensor<float, dyn, 2, 2, 16> second(max_pool<window{.size = {2, 2}}>(
            relu(conv2d<window{.padding = padding::same}>(first, near(f2)) + near(b2))));
        return matmul(tensor<float, dyn, 64>(reshape<dyn, 64>(second)), near(w)) + near(b);
    }
};

/// Trains as one of the workers. Returns the accuracy at the end.
float train(const cluster_spec& cluster, int task) {
    const handwriting::digits data;
    const server node(cluster, "worker", task);
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = "/job:worker/task:" + std::to_string(task)}));
    const network net;
    prefetched_parameters near;
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const auto logits = net.logits(image, near);
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(logits), label)));
    const auto update = near.minimize(adam(2e-3f), loss, net.step);

    monitored_session s({.target = node.target(), .is_chief = task == 0, .stop_at_step = steps, .log_steps = 0});
    int own = 0;
    while (!s.should_stop()) {
        const auto b = data.batch_of(task, own);
        const auto [l] = s.run(std::tuple(loss, update), feed(image, b.images), feed(label, b.labels));
        if (task == 0 && own % 100 == 0)
            std::printf("step %lld: loss %.4f\n", static_cast<long long>(s.global_step()), static_cast<double>(l));
        ++own;
    }
    std::printf("worker %d has made %d steps\n", task, own);
    std::fflush(stdout);
    const auto test = data.test();
    return s.session().run(accuracy, feed(image, test.images), feed(label, test.labels));
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    const auto make_cluster = [](const std::vector<std::string>& at) {
        return cluster_spec{{"ps", {at[0]}}, {"worker", {at.begin() + 1, at.end()}}};
    };
    if (argc > 3) { // a process that is started below: its job, its task, and the addresses of all
        const auto cluster = make_cluster({argv + 3, argv + argc});
        if (std::string(argv[1]) == "worker") {
            train(cluster, std::atoi(argv[2]));
            return 0;
        }
        server node(cluster, "ps", 0);
        node.join();
        return 0;
    }
    const auto at = free_addresses(1 + workers);
    const auto start = [&](const std::string& job, int task) {
        return start_task(argv[0], {job, std::to_string(task)}, at);
    };
    const auto ps = start("ps", 0), second = start("worker", 1);
    const float accuracy = train(make_cluster(at), 0);
    std::printf("accuracy %.3f after %d steps of %d workers\n", static_cast<double>(accuracy), steps, workers);
    expect(accuracy >= 0.94f, "handwriting is read");
    expect(second->wait() == 0, "the other worker has come to its end");
}
