// SPDX-License-Identifier: BSD-3-Clause
// Two processes: a parameter server that holds a variable, and this one, a worker that computes its next value. The program starts the
// other process of itself, and ends it.
#include <iostream>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    const bool is_ps = argc == 3; // started below
    const auto at = is_ps ? std::vector<std::string>{argv[1], argv[2]} : free_addresses(2);
    const cluster_spec cluster{{"ps", {at[0]}}, {"worker", {at[1]}}};
    if (is_ps) {
        server node(cluster, "ps", 0);
        node.join(); // until the worker ends this process
        return 0;
    }
    const child_process ps(argv[0], at);
    const server node(cluster, "worker", 0);

    const auto count = [] {
        device_scope on("/job:ps");
        return variable<float>("count", 0.f);
    }();
    tensor<float> next;
    {
        device_scope on("/job:worker/task:0");
        next = tensor<float>(count * 2.f + 1.f);
    }
    const auto step =
        count.assign(next); // runs where count lies: its value crosses to the worker, and the next one back

    const session s({.target = node.target()});
    s.run(count.initializer()); // waits until the other process has started
    for (int i = 0; i < 10; ++i) s.run(step);
    const float result = s.run(count);
    std::cout << result << '\n';
    expect(result == 1023.f, "ten times doubled, plus one");
}
