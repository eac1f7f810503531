// SPDX-License-Identifier: BSD-3-Clause
// A cluster of one parameter server and two workers, all in this process. Two replicas train one line on data of their own, each with its
// own graph and session; the parameters lie on the server, and every replica updates them when it is done (asynchronous training).
#include <iostream>
#include <thread>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

/// Trains as one of the replicas, and returns the loss at the end.
float train(local_cluster& all, int task) {
    graph g;
    const graph_scope use(g);
    const device_scope on(replica_device_setter(all.spec(), {.worker = "/job:worker/task:" + std::to_string(task)}));
    const placeholder<float, dyn> x("x"), y("y");
    const variable<float> w("w", 0.f), b("b", 0.f);
    const tensor<float> loss = reduce_mean(square(w * x + b - y));
    const auto update = gradient_descent(0.05f).minimize(loss);
    const session s({.target = all.at("worker", task).target(), .replica = task});
    const std::vector<float> xs{0.f, 1.f, 2.f, 3.f}, ys{1.f, 3.f, 5.f, 7.f};
    for (int i = 0; i < 400; ++i) s.run(update, feed(x, xs), feed(y, ys));
    return s.run(loss, feed(x, xs), feed(y, ys));
}

} // namespace

int main() {
    local_cluster all({{"ps", 1}, {"worker", 2}});
    { // the first replica's initializers, before any replica begins
        graph g;
        const graph_scope use(g);
        const device_scope on(replica_device_setter(all.spec()));
        const variable<float> w("w", 0.f), b("b", 0.f);
        const session s({.target = all.at("worker", 0).target()});
        s.run(global_variables_initializer());
    }
    std::thread other([&] { train(all, 1); });
    const float loss = train(all, 0);
    other.join();
    std::cout << "loss " << loss << '\n';
    expect(loss < 1e-3f, "the replicas have learnt the line");
    return 0;
}
