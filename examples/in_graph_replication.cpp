// SPDX-License-Identifier: BSD-3-Clause
// One graph over three processes: two workers compute the gradients of handwriting, each of a batch of its own; the parameter server adds them
// up and updates. One client drives all (in-graph replication). The losses are those of one process, bit for bit.
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/// Trains, and returns the mean loss of each step; the last element is the accuracy. With a target the work is spread over its cluster.
std::vector<float> train(const digits& data, const std::string& target) {
    const graph g;
    const graph_scope use(g);
    const auto on = [&](const std::string& task) { return target.empty() ? std::string("/cpu:0") : task; };
    const device_scope together(on("/job:ps/task:0"));
    const digit_model m;
    std::vector<placeholder<float, dyn, 64>> images;
    std::vector<placeholder<int, dyn>> labels;
    std::vector<any_tensor> losses;
    std::vector<std::vector<gradient_and_variable>> gradients;
    const auto optimizer = adam(2e-3f);
    for (int w = 0; w < workers; ++w) {
        const device_scope there(on("/job:worker/task:" + std::to_string(w)));
        images.emplace_back("image_" + std::to_string(w));
        labels.emplace_back("label_" + std::to_string(w));
        const auto loss = m.loss(images.back(), labels.back());
        losses.push_back(loss);
        gradients.push_back(optimizer.compute_gradients(loss));
    }
    std::vector<gradient_and_variable> means;
    for (std::size_t k = 0; k < gradients[0].size(); ++k) {
        std::vector<any_tensor> of_workers;
        for (const auto& each : gradients) of_workers.push_back(each[k].gradient);
        means.push_back({any_tensor(add_n(of_workers) / static_cast<float>(workers)), gradients[0][k].variable});
    }
    const operation update = optimizer.apply_gradients(means);
    const any_tensor loss(add_n(losses) / static_cast<float>(workers));
    const auto accuracy = reduce_mean(cast<float>(equal(argmax<1>(m.logits(images[0])), labels[0])));

    const session s({.target = target});
    s.run(global_variables_initializer());
    std::vector<float> seen;
    for (int step = 0; step < steps; ++step) {
        const auto a = data.batch_of(0, step), b = data.batch_of(1, step);
        const auto [l] = s.run(std::tuple(loss, update), feed(images[0], a.images), feed(labels[0], a.labels),
                               feed(images[1], b.images), feed(labels[1], b.labels));
        seen.push_back(l.value<float>());
    }
    const auto test = data.test();
    seen.push_back(s.run(accuracy, feed(images[0], test.images), feed(labels[0], test.labels)));
    return seen;
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    const bool is_child = argc == 3 + 1 + workers; // started below: its job, its task, and the addresses of all
    const auto at = is_child ? std::vector<std::string>(argv + 3, argv + argc) : free_addresses(1 + workers);
    const cluster_spec cluster{{"ps", {at[0]}}, {"worker", {at.begin() + 1, at.end()}}};
    if (is_child) {
        server node(cluster, argv[1], std::atoi(argv[2]));
        node.join();
        return 0;
    }
    const auto ps = start_task(argv[0], {"ps", "0"}, at), second = start_task(argv[0], {"worker", "1"}, at);
    const server node(cluster, "worker", 0);
    const digits data;
    const auto spread = train(data, node.target()), whole = train(data, "");
    std::printf("loss %.4f before, %.4f after %d steps of two workers; accuracy %.3f\n", static_cast<double>(spread[0]),
                static_cast<double>(spread[steps - 1]), steps, static_cast<double>(spread.back()));
    expect(spread.back() >= 0.9f, "handwriting is read");
    expect(std::memcmp(spread.data(), whole.data(), whole.size() * sizeof(float)) == 0, "the bits of one process");
}
