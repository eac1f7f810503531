// SPDX-License-Identifier: BSD-3-Clause
// The CPU reads while the GPU trains: two threads of a queue runner draw examples on the CPU and put them into a queue; each training step
// takes a batch from it, which one copy brings to the GPU. Variables and gradients never leave the GPU. Then the same with a dataset, whose
// batches come to the GPU while the step before them runs: a step copies nothing.
#include <cmath>
#include <cstdio>
#include <string>

#include <rill/rill.hpp>

#include "accelerator.hpp"
#include "expect.hpp"

using namespace rill;

constexpr index_t batch = 32;
const session_options on_64_mb{.gpu = {.virtual_devices = {{64 << 20}}}}; // of the GPU: enough

struct model {
    tensor<float> loss;
    operation train;
};
model model_on(const std::string& there, const tensor<float, batch, 2>& points, const tensor<float, batch, 1>& wanted) {
    const device_scope trains(there);
    const auto loss =
        reduce_mean(sigmoid_cross_entropy(dense<8, 1>("second", tanh(dense<2, 8>("first", points))), wanted));
    return {loss, adam(0.05f).minimize(loss)};
}

/// Trains, and returns how many values a step copies between the memories of the CPU and of the GPU.
int train(const session& s, const model& m) {
    float first = 0, last = 0;
    for (int i = 0; i < 300; ++i) {
        const float now = std::get<0>(s.run(std::tuple(m.loss, m.train)));
        if (i < 20) first += now / 20;
        if (i >= 280) last += now / 20;
    }
    std::printf("mean loss of the first 20 steps: %g, of the last 20: %g\n", double(first), double(last));
    expect(last < 0.5f * first, "it learns");
    int copies = 0;
    for (const auto& e : s.run_traced(m.train).entries) copies += e.op == "Copy" ? 1 : 0;
    std::printf("%d values are copied in a step\n", copies);
    return copies;
}

void train_from_queue(const std::string& there) {
    const graph g;
    const graph_scope here(g);
    tensor<float, batch, 2> points;
    tensor<float, batch, 1> wanted;
    {
        const device_scope reads("/device:cpu:0");
        const fifo_queue<tensor<float, 2>, tensor<float, 1>> examples({.capacity = 200, .name = "examples"});
        const tensor<float, 2> point = random_uniform<float, 2>({.minval = -1.f, .maxval = 1.f, .seed = 5});
        const tensor<float, 1> above = reshape<1>(cast<float>(reduce_sum(point) > 0.2f)); // is x + y > 0.2?
        const auto put = examples.enqueue(point, above);
        add_queue_runner(examples, {put, put}); // two threads
        const auto [p, a] = examples.dequeue_many<batch>();
        points = p, wanted = a;
    }
    const auto m = model_on(there, points, wanted);
    const session s(g, on_64_mb);
    s.run(global_variables_initializer());
    const coordinator c;
    auto runners = start_queue_runners(s, c);
    const int copies = train(s, m);
    c.request_stop();
    c.join(runners);
    expect(copies == 2, "only the batch goes to the GPU, and nothing comes back");
}

void train_from_dataset(const std::string& there) {
    const graph g;
    const graph_scope here(g);
    constexpr std::size_t count = 1000;
    xt::xtensor<float, 2> points({count, 2}), wanted({count, 1});
    for (std::size_t i = 0; i < count; ++i) {
        points(i, 0) = static_cast<float>((i * 37) % 200) / 100.f - 1.f;
        points(i, 1) = static_cast<float>((i * 91) % 201) / 100.f - 1.f;
        wanted(i, 0) = points(i, 0) + points(i, 1) > 0.2f ? 1.f : 0.f;
    }
    const auto data = dataset::from_tensor_slices(points, wanted).as<tensor<float, 2>, tensor<float, 1>>();
    const auto [p, w] = data.shuffle(count, 5)
                            .repeat()
                            .batch<batch>(drop_remainder)
                            .prefetch_to_device(there, 2)
                            .make_one_shot_iterator()
                            .get_next();
    const auto m = model_on(there, p, w);
    const session s(g, on_64_mb);
    s.run(global_variables_initializer());
    expect(train(s, m) == 0, "each batch is there when its step begins");
}

int main() {
    const std::string there = "/device:" + std::string(accelerator()) + ":0";
    train_from_queue(there);
    train_from_dataset(there);
}
