// SPDX-License-Identifier: BSD-3-Clause
// A program of C++ alone that links rill::gpu_kernels: nothing in it names CUDA. Without a card it says that it has none, and runs on the
// CPU what asks for one, if it may. With a card it trains there.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <rill/rill.hpp>

using namespace rill;

namespace {

int problems = 0;

void expect(bool good, const std::string& what) {
    std::printf("%s: %s\n", good ? "ok" : "WRONG", what.c_str());
    problems += good ? 0 : 1;
}

/// Trains a small network. Returns its first and its last loss.
std::pair<float, float> train() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    const auto h = relu(dense<4, 10>("one", x));
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(dense<10, 3>("two", h), label));
    const auto step = adam(0.02f).minimize(loss);
    const session s;
    s.run(global_variables_initializer());
    std::vector<float> xs(32 * 4);
    std::vector<int> labels(32);
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i * 7 % 13) / 13.f;
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i % 3);
    const auto value = [&] { return float(s.run(loss, feed(x, xs), feed(label, labels))); };
    const float first = value();
    for (int i = 0; i < 100; ++i) s.run(step, feed(x, xs), feed(label, labels));
    return {first, value()};
}

} // namespace

int main() {
    const auto [first, last] = train();
    expect(last < 0.98f * first, "a network trains: " + std::to_string(first) + " to " + std::to_string(last));

    placeholder<float, dyn> x("x");
    const auto y = [&] {
        const device_scope there("/gpu:0");
        return tensor(exp(x) * 2.f, "y");
    }();
    const std::vector<float> value{0, 1};
    const session soft({.allow_soft_placement = true});
    std::string names;
    for (const auto& d : soft.devices()) names += " " + d.name;
    std::printf("devices:%s\n", names.c_str());
    expect(soft.run(y, feed(x, value))(0) == 2, "soft placement finds a device");
    if (std::ranges::any_of(soft.devices(), [](const auto& d) { return d.type == "gpu"; })) return problems;

    std::string words;
    try {
        session().run(y, feed(x, value));
    } catch (const invalid_argument& problem) {
        words = problem.what();
    }
    expect(words.find("/device:gpu:0") != std::string::npos && words.find("/device:cpu:0") != std::string::npos,
           "without a card the error names the devices: " + words);
    return problems;
}
