// SPDX-License-Identifier: BSD-3-Clause
// The CPU reads while the GPU trains: two threads of a queue runner draw examples on the CPU and put them into a queue; each training step
// takes a batch from it, which one copy brings to the GPU. Variables and gradients never leave the GPU.
#include <cmath>
#include <cstdio>
#include <string>

#include <rill/rill.hpp>

#include "accelerator.hpp"
#include "expect.hpp"

using namespace rill;

constexpr index_t batch = 32;

int main() {
    const std::string there = "/device:" + std::string(accelerator()) + ":0";
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
    tensor<float> loss;
    operation train;
    {
        const device_scope trains(there);
        loss = reduce_mean(sigmoid_cross_entropy(dense<8, 1>("second", tanh(dense<2, 8>("first", points))), wanted));
        train = adam(0.05f).minimize(loss);
    }
    const session s({.gpu = {.virtual_devices = {{64 << 20}}}}); // 64 MB of the GPU are enough
    s.run(global_variables_initializer());
    const coordinator c;
    auto runners = start_queue_runners(s, c);
    float first = 0, last = 0;
    for (int i = 0; i < 300; ++i) {
        const float now = std::get<0>(s.run(std::tuple(loss, train)));
        if (i < 20) first += now / 20;
        if (i >= 280) last += now / 20;
    }
    const auto trace = s.run_traced(train);
    c.request_stop();
    c.join(runners);
    std::printf("mean loss of the first 20 steps: %g, of the last 20: %g\n", double(first), double(last));
    expect(last < 0.5f * first, "it learns from the queue");

    int copies = 0;
    for (const auto& e : trace.entries) copies += e.op == "Copy" ? 1 : 0;
    std::printf("%d values are copied in a step\n", copies);
    expect(copies == 2, "only the batch goes to the GPU, and nothing comes back");
}
