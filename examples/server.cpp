// SPDX-License-Identifier: BSD-3-Clause
// A stock server: it was compiled before anybody wrote a graph for it, and runs the graphs of all who come. Its place in the cluster is in
// its environment, as job managers set it:
//     TF_CONFIG='{"cluster": {"stock": ["127.0.0.1:2222"]}, "task": {"type": "stock", "index": 0}}' ./server
// It ends at SIGINT or SIGTERM. Without TF_CONFIG the program starts such a server of itself, lets it train a small network, and ends it.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include <rill/all_kernels.hpp>
#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;

namespace {

volatile std::sig_atomic_t is_asked_to_end = 0;

void serve() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { is_asked_to_end = 1; });
    const auto me = from_environment();
    server node(me.cluster, me.job, me.task);
    std::cout << "serves at " << node.target() << std::endl;
    std::thread ends([&] { // a signal handler may not stop a server itself
        while (!is_asked_to_end) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        node.stop();
    });
    node.join();
    ends.join();
}

} // namespace

int main(int, char** argv) {
    if (std::getenv("TF_CONFIG")) {
        serve();
        return 0;
    }
    if (!has_child_processes) return 0;
    const auto at = free_addresses(2);
    child_process stock(argv[0], {},
                        {{"TF_CONFIG", R"({"cluster": {"stock": [")" + at[0] + R"("], "user": [")" + at[1] +
                                           R"("]}, "task": {"type": "stock", "index": 0}})"}});

    // a user's program, which computes nothing itself
    const server node(cluster_spec{{"stock", {at[0]}}, {"user", {at[1]}}}, "user", 0);
    const device_scope there("/job:stock");
    const placeholder<float, dyn, 1> x("x"), y("y");
    const variable<float, 1, 8> w1("w1", glorot_uniform(1));
    const variable<float, 8> b1("b1", 0.f);
    const variable<float, 8, 1> w2("w2", glorot_uniform(2));
    const tensor<float> loss = reduce_mean(square(matmul(tanh(matmul(x, w1) + b1), w2) - y));
    const auto train = adam(0.02f).minimize(loss);
    const session s({.target = node.target()});
    s.run(global_variables_initializer());
    xt::xtensor<float, 2> xs = xt::zeros<float>({32, 1}), ys = xs;
    for (std::size_t i = 0; i < 32; ++i) {
        xs(i, 0) = static_cast<float>(i) / 8 - 2;
        ys(i, 0) = xs(i, 0) / (1 + xs(i, 0) * xs(i, 0));
    }
    const float before = s.run(loss, feed(x, xs), feed(y, ys));
    for (int i = 0; i < 300; ++i) s.run(train, feed(x, xs), feed(y, ys));
    const float after = s.run(loss, feed(x, xs), feed(y, ys));
    std::cout << "loss " << before << " before, " << after << " after\n";
    expect(after < before / 10, "the stock server has trained the network");
    stock.interrupt();
    expect(stock.wait() == 0, "the stock server ends by itself when it is asked to");
}
