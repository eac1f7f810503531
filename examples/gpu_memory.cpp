// SPDX-License-Identifier: BSD-3-Clause
// A device with a cap on its memory: a virtual device of 16 MB. A run that needs more is refused by an error that says how much was asked
// for, how much is in use and by how large blocks; the session stays usable. Then the same model with less memory: a smaller batch. At last a
// deep network whose activations exceed the cap: they lie in host memory until their gradients need them, with the same losses.
#include <cmath>
#include <cstdio>
#include <string>

#include <rill/rill.hpp>

#include "accelerator.hpp"
#include "expect.hpp"

using namespace rill;

constexpr std::size_t cap = std::size_t(16) << 20;
constexpr index_t features = 256, units = 1024;

/// Returns the loss after some steps of a network with 24 layers, whose activations have 1 MB each; -1 if the memory does not suffice.
float train_deep(std::size_t bytes, bool swap) {
    const graph g;
    const graph_scope here(g);
    g.set_seed(7);
    const device_scope there("/device:" + std::string(accelerator()) + ":0");
    placeholder<float, 8192, 32> x("x");
    tensor<float, 8192, 32> h = x;
    for (int i = 0; i < 24; ++i) h = tanh(dense<32, 32>("layer" + std::to_string(i), h));
    const auto loss = reduce_mean(square(h - 0.5f));
    const auto step = gradient_descent(0.1f).minimize(loss);
    const session s(g, {.gpu = {.virtual_devices = {{bytes}}, .swap_memory = swap}});
    s.run(global_variables_initializer());
    const xt::xtensor<float, 2> xs = xt::ones<float>({8192, 32});
    float last = 0;
    try {
        for (int i = 0; i < 3; ++i) last = std::get<0>(s.run(std::tuple(loss, step), feed(x, xs)));
    } catch (const resource_exhausted&) {
        return -1;
    }
    return last;
}

int main() {
    const device_scope there("/device:" + std::string(accelerator()) + ":0");
    placeholder<float, dyn, features> x("x");
    const auto h = tanh(dense<features, units>("first", x));
    const auto loss = reduce_mean(square(dense<units, 1>("second", h) - 1.f));
    const auto step = gradient_descent(0.05f).minimize(loss);
    const session s({.gpu = {.virtual_devices = {{cap}}}});
    for (const auto& d : s.devices()) std::printf("%s: %zu bytes\n", d.name.c_str(), d.memory);
    s.run(global_variables_initializer());

    const auto batch = [](std::size_t rows) {
        return xt::xtensor<float, 2>(0.1f * xt::ones<float>({rows, std::size_t(features)}));
    };
    const auto train = [&](std::size_t rows) { s.run(step, feed(x, batch(rows))); };
    train(64);
    const float before = s.run(loss, feed(x, batch(64)));
    bool refused = false;
    try {
        train(8192); // one hidden layer of it takes 32 MB
    } catch (const resource_exhausted& problem) {
        const std::string words = problem.what();
        std::printf("error: %s\n", words.c_str());
        const auto says = [&](const std::string& part) { return words.find(part) != std::string::npos; };
        expect(says("bytes are requested") && says("of " + std::to_string(cap) + " are in use"),
               "the error has all numbers");
        expect(says("the largest blocks have") && says("(variable float32 [256, 1024])"),
               "the weights of the first layer are among the largest holders");
        refused = true;
    }
    expect(refused, "a step that needs more than the cap is refused");
    expect(s.run(loss, feed(x, batch(64))) == before, "the refused step has changed nothing");
    for (int i = 0; i < 20; ++i) train(64);
    const float after = s.run(loss, feed(x, batch(64)));
    std::printf("loss %g, and %g after 20 smaller steps\n", static_cast<double>(before), static_cast<double>(after));
    expect(after < before, "the session goes on");

    const float whole = train_deep(std::size_t(256) << 20, false), refused_loss = train_deep(cap, false),
                swapped = train_deep(cap, true);
    std::printf("24 layers: loss %g with 256 MB, and %g with 16 MB and swaps\n", static_cast<double>(whole),
                static_cast<double>(swapped));
    expect(refused_loss == -1 && whole > 0, "without swaps the activations do not fit");
    expect(swapped == whole, "with swaps they do, and the loss is the same");

    // limits are checked when the session opens
    try {
        const session wrong({.device_count = {{accelerator(), 2}}, .gpu = {.virtual_devices = {{cap}}}});
        expect(false, "two devices of one are refused");
    } catch (const invalid_argument& problem) {
        std::printf("error: %s\n", problem.what());
    }
}
