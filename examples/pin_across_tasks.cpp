// SPDX-License-Identifier: BSD-3-Clause
// One network over three processes: each layer is pinned to a task, with its variables. Values cross from task to task without passing
// through the one that asks. The loss is that of one process, bit for bit, after each step of training.
#include <cstring>
#include <iostream>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;

namespace {

/// Trains for 20 steps, and returns the loss of each. With a target the layers are pinned to tasks of its cluster.
std::vector<float> train(const std::string& target) {
    const graph g;
    const graph_scope use(g);
    const auto pinned = [&](int task) {
        return target.empty() ? std::string("/cpu:0") : "/job:layer/task:" + std::to_string(task);
    };
    const placeholder<float, dyn, 4> x("x");
    const placeholder<float, dyn, 1> y("y");
    tensor<float, dyn, 32> first;
    tensor<float, dyn, 32> second;
    tensor<float> loss;
    {
        const device_scope on(pinned(0));
        first = tanh(dense<4, 32>("first", x));
    }
    {
        const device_scope on(pinned(1));
        second = tanh(dense<32, 32>("second", first));
    }
    {
        const device_scope on(pinned(2));
        loss = reduce_mean(square(dense<32, 1>("third", second) - y));
    }
    const auto update = gradient_descent(0.1f).minimize(loss, {.colocate = true}); // each gradient beside its layer
    const session s({.target = target});
    s.run(global_variables_initializer());
    xt::xtensor<float, 2> xs = xt::zeros<float>({16, 4}), ys = xt::zeros<float>({16, 1});
    for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t k = 0; k < 4; ++k) xs(i, k) = static_cast<float>((i * 7 + k * 5) % 11) / 11;
        ys(i, 0) = xs(i, 0) * xs(i, 1) - xs(i, 2);
    }
    std::vector<float> losses;
    for (int i = 0; i < 20; ++i)
        losses.push_back(std::get<0>(s.run(std::tuple(loss, update), feed(x, xs), feed(y, ys))));
    return losses;
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    const bool is_child = argc == 5; // started below
    const auto at = is_child ? std::vector<std::string>(argv + 2, argv + 5) : free_addresses(3);
    const cluster_spec cluster{{"layer", at}};
    if (is_child) {
        server node(cluster, "layer", std::atoi(argv[1]));
        node.join();
        return 0;
    }
    const child_process one(argv[0], {"1", at[0], at[1], at[2]}), two(argv[0], {"2", at[0], at[1], at[2]});
    const server node(cluster, "layer", 0);
    const auto spread = train(node.target()), whole = train("");
    std::cout << "loss " << spread.front() << " before, " << spread.back() << " after 20 steps on three processes; "
              << node.bytes_sent() << " bytes sent by the first\n";
    expect(spread.back() < spread.front(), "the network learns");
    expect(std::memcmp(spread.data(), whole.data(), whole.size() * sizeof(float)) == 0, "the bits of one process");
}
