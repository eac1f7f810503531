// SPDX-License-Identifier: BSD-3-Clause
// Synchronous training of real handwriting (see data/README.md): two workers compute gradients of images of their own, and a parameter server
// updates by their mean. The losses are those of one process that computes both gradients, to the last bit. A third worker as a backup makes
// steps independent of the slowest worker. All tasks run in this program.
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

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

/// Trains as one of the workers. Two of them make a step; the others are backups.
outcome train(local_cluster& all, int workers, int task, const digits& data) {
    const graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(all.spec(), {.worker = "/job:worker/task:" + std::to_string(task)}));
    const digit_model m;
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const auto loss = m.loss(image, label);
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(m.logits(image)), label)));
    const auto sync = sync_replicas(adam(2e-3f), {.replicas_to_aggregate = 2, .total_replicas = workers});
    const auto update = sync.minimize(loss, m.step);
    const auto dropped = sync.num_dropped();

    outcome out;
    monitored_session s({.target = all.at("worker", task).target(),
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

outcome train_in_cluster(int workers, const digits& data) {
    local_cluster all({{"ps", 1}, {"worker", workers}});
    std::vector<std::thread> others;
    for (int task = 1; task < workers; ++task) others.emplace_back([&, task] { train(all, workers, task, data); });
    auto out = train(all, workers, 0, data);
    for (auto& t : others) t.join();
    return out;
}

} // namespace

int main() {
    const digits data;
    const auto alone = train_alone(data);
    const auto two = train_in_cluster(2, data);
    std::printf("two workers: loss %.4f at first, %.4f at last, accuracy %.3f\n",
                static_cast<double>(two.curve.front()), static_cast<double>(two.curve.back()),
                static_cast<double>(two.accuracy));
    expect(two.curve == alone, "two workers have the losses of one process, to the last bit");
    expect(two.dropped == 0, "every gradient is used");
    const auto three = train_in_cluster(3, data);
    std::printf("with a backup: accuracy %.3f, %lld gradients came too late\n", static_cast<double>(three.accuracy),
                static_cast<long long>(three.dropped));
    expect(two.accuracy >= 0.93f && three.accuracy >= 0.93f, "handwriting is read");
}
