// SPDX-License-Identifier: BSD-3-Clause
// A model over several devices: scopes pin layers, the session logs where each node runs, and cuts the run into parts that send each
// other values. A device that is not there is refused by name, or replaced.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <rill/graph/serialization/dot.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main() {
    const placeholder<float, dyn, 4> x("x");
    const placeholder<float, dyn, 1> y("y");
    tensor<float, dyn, 8> hidden;
    {
        const device_scope first("/cpu:0");
        hidden = relu(dense<4, 8>("first", x));
    }
    tensor<float> loss;
    {
        const device_scope second("/job:localhost/device:CPU:1"); // any form of a name
        loss = reduce_mean(square(dense<8, 1>("second", hidden) - y));
    }
    const auto train = gradient_descent(0.05f).minimize(loss);
    xt::xtensor<float, 2> xs = xt::ones<float>({16, 4}), ys = xt::zeros<float>({16, 1});
    for (std::size_t i = 0; i < 16; ++i) xs(i, 0) = ys(i, 0) = static_cast<float>(i) / 16;

    // the same training, whole and cut
    std::vector<float> losses;
    std::vector<std::string> placed;
    set_log_sink([&](log_level, std::string_view line) { placed.emplace_back(line); });
    for (const bool cut : {false, true}) {
        const session s({.device_count = {{"cpu", 2}}, .partition_devices = cut, .log_device_placement = cut});
        s.run(global_variables_initializer());
        for (int i = 0; i < 100; ++i) s.run(train, feed(x, xs), feed(y, ys));
        losses.push_back(s.run(loss, feed(x, xs), feed(y, ys)));
    }
    set_log_sink({});
    std::printf("loss, whole: %g, cut: %g\n", losses[0], losses[1]);
    expect(losses[0] == losses[1] && losses[0] < 0.05f, "both learn, and give the same bits");
    for (const auto& line : placed)
        if (line.starts_with("first/") || line.starts_with("second/")) std::printf("%s\n", line.c_str());

    const session s({.device_count = {{"cpu", 2}}});
    for (const auto& d : s.devices()) std::printf("%s: %zu bytes\n", d.name.c_str(), d.memory);
    for (const auto& p : s.partition({loss}, {x, y})) {
        std::printf("a part of %zu nodes on %s\n", p.graph.size(), p.device.c_str());
        write_dot(p.graph, p.device + ".dot"); // for Graphviz: dot -Tsvg
        std::filesystem::remove(p.device + ".dot");
    }

    const device_scope nowhere("/cpu:7");
    const tensor lost(loss * 2.f, "lost");
    try {
        s.run(lost, feed(x, xs), feed(y, ys));
        expect(false, "a device that is not there is refused");
    } catch (const invalid_argument& e) {
        std::printf("%s\n", e.what());
    }
    const session soft({.device_count = {{"cpu", 2}}, .allow_soft_placement = true});
    soft.run(global_variables_initializer());
    expect(soft.run(lost, feed(x, xs), feed(y, ys)) > 0, "soft placement takes another");
}
