// SPDX-License-Identifier: BSD-3-Clause
// Synchronous training of real handwriting (see data/README.md): two workers compute gradients of images of their own, and a parameter server
// updates by their mean. The losses are those of one process that computes both gradients, to the last bit. A third worker as a backup makes
// steps independent of the slowest worker. Each task is a process: this one is the chief, and starts the others of itself.
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
using namespace handwriting;

namespace {

constexpr int steps = 300;

/// Trains in one process by the mean of two gradients. Returns the losses of the first.
std::vector<float> train_alone(const digits& data) {
    const graph g;
    const graph_scope use(g);
    const digit_model m;
    std::vector<placeholder<float, dyn, 64>> images;
    std::vector<placeholder<int, dyn>> labels;
    std::vector<tensor<float>> losses;
    std::vector<gradient_and_variable> mean;
    const adam by(2e-3f);
    for (int k = 0; k < 2; ++k) {
        images.emplace_back("image");
        labels.emplace_back("label");
        losses.push_back(m.loss(images.back(), labels.back()));
        const auto pairs = by.compute_gradients(losses.back());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (k == 0)
                mean.push_back(pairs[i]);
            else
                mean[i].gradient = (mean[i].gradient + pairs[i].gradient) / 2.f;
        }
    }
    const auto train = by.apply_gradients(mean);
    const session s;
    s.run(global_variables_initializer());
    std::vector<float> curve;
    for (int i = 0; i < steps; ++i) {
        const auto a = data.batch_of(0, i), b = data.batch_of(1, i);
        curve.push_back(
            std::get<0>(s.run(std::tuple(losses[0], train), feed(images[0], a.images), feed(labels[0], a.labels),
                              feed(images[1], b.images), feed(labels[1], b.labels))));
    }
    return curve;
}

struct outcome {
    std::vector<float> curve; // the losses of worker 0
    float accuracy = 0;
    std::int64_t dropped = 0;
};

/// Returns the cluster of such addresses: a parameter server, and workers.
cluster_spec make_cluster(const std::vector<std::string>& at) {
    return {{"ps", {at[0]}}, {"worker", {at.begin() + 1, at.end()}}};
}

/// Trains as one of the workers. Two of them make a step; the others are backups.
outcome train(const cluster_spec& cluster, int task, const digits& data) {
    const auto workers = static_cast<int>(cluster.tasks("worker").size());
    const server node(cluster, "worker", task);
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(cluster, {.worker = "/job:worker/task:" + std::to_string(task)}));
    const digit_model m;
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const auto loss = m.loss(image, label);
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(m.logits(image)), label)));
    const auto sync = sync_replicas(adam(2e-3f), {.replicas_to_aggregate = 2, .total_replicas = workers});
    const auto update = sync.minimize(loss, m.step);
    const auto dropped = sync.num_dropped();

    outcome out;
    monitored_session s({.target = node.target(),
                         .is_chief = task == 0,
                         .stop_at_step = steps,
                         .log_steps = 0,
                         .stop_at_signals = false});
    while (!s.should_stop()) {
        const auto b = data.batch_of(task, s.global_step());
        out.curve.push_back(std::get<0>(s.run(std::tuple(loss, update), feed(image, b.images), feed(label, b.labels))));
    }
    const auto test = data.test();
    out.accuracy = s.session().run(accuracy, feed(image, test.images), feed(label, test.labels));
    out.dropped = s.session().run(dropped);
    return out;
}

/// Trains in processes: this one is worker 0, the chief.
outcome train_in_cluster(const std::string& program, int workers, const digits& data) {
    const auto at = free_addresses(1 + workers);
    const auto start = [&](const std::string& job, int task) {
        return start_task(program, {job, std::to_string(task)}, at);
    };
    const auto parameters = start("ps", 0);
    std::vector<std::unique_ptr<child_process>> others;
    for (int task = 1; task < workers; ++task) others.push_back(start("worker", task));
    const auto out = train(make_cluster(at), 0, data);
    for (const auto& other : others) expect(other->wait() == 0, "the other workers come to their end");
    return out;
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    const digits data;
    if (argc > 3) { // a process that is started above: its job, its task, and the addresses of all
        const auto cluster = make_cluster({argv + 3, argv + argc});
        if (std::string(argv[1]) == "worker") {
            train(cluster, std::atoi(argv[2]), data);
            return 0;
        }
        server node(cluster, "ps", 0);
        node.join();
        return 0;
    }
    const auto alone = train_alone(data);
    const auto two = train_in_cluster(argv[0], 2, data);
    std::printf("two workers: loss %.4f at first, %.4f at last, accuracy %.3f\n",
                static_cast<double>(two.curve.front()), static_cast<double>(two.curve.back()),
                static_cast<double>(two.accuracy));
    expect(two.curve == alone, "two workers have the losses of one process, to the last bit");
    expect(two.dropped == 0, "every gradient is used");
    const auto three = train_in_cluster(argv[0], 3, data);
    std::printf("with a backup: accuracy %.3f, %lld gradients came too late\n", static_cast<double>(three.accuracy),
                static_cast<long long>(three.dropped));
    expect(two.accuracy >= 0.93f && three.accuracy >= 0.93f, "handwriting is read");
}
