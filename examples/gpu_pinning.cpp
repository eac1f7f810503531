// SPDX-License-Identifier: BSD-3-Clause
// A model over CPU and GPU: input and sparse work on the CPU, dense layers on the GPU, by a scope and by a function of the node. The log says
// where each node runs. Without nvcc the program runs on the device "thrust", which has the kernels of the GPU on threads of the host.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <rill/rill.hpp>

#include "accelerator.hpp"
#include "expect.hpp"

using namespace rill;

namespace {

/// Trains a small network on words given as ids, with dense layers on the device that a function chooses. Returns the last loss, and
/// counts the nodes of each device.
float train(const device_function& dense_layers, std::map<std::string, int>& nodes) {
    const graph g;
    const graph_scope here(g);
    const device_scope rest("/device:cpu:0");
    placeholder<int, dyn> ids("ids");
    placeholder<float, dyn, 1> y("y");
    variable<float, 20, 4> table("table", random_uniform({.minval = -1.f, .maxval = 1.f, .seed = 7})); // rows change
    const tensor<float, dyn, 4> words = gather<0>(table, ids);
    tensor<float> loss;
    {
        const device_scope there(dense_layers);
        loss = reduce_mean(square(dense<8, 1>("second", tanh(dense<4, 8>("first", words))) - y));
    }
    const auto step = adam(0.05f).minimize(loss);
    std::vector<int> all(20);
    xt::xtensor<float, 2> wanted({20, 1});
    for (std::size_t i = 0; i < 20; ++i) {
        all[i] = static_cast<int>(i);
        wanted(i, 0) = i % 3 == 0 ? 1.f : 0.f;
    }
    set_log_sink([&](log_level, std::string_view line) { ++nodes[std::string(line.substr(line.rfind(' ') + 1))]; });
    const session s({.log_device_placement = true});
    s.run(global_variables_initializer());
    for (int i = 0; i < 100; ++i) s.run(step, feed(ids, all), feed(y, wanted));
    const float last = s.run(loss, feed(ids, all), feed(y, wanted));
    set_log_sink({});
    return last;
}

} // namespace

int main() {
    const std::string there = "/device:" + std::string(accelerator()) + ":0";
    std::map<std::string, int> on_cpu, in_scope, by_function;
    const float cpu_alone = train([](const node_info&) { return std::string("/device:cpu:0"); }, on_cpu);
    const float both = train([&](const node_info&) { return there; }, in_scope);
    const float products = train(
        [&](const node_info& n) { return n.op == "MatMul" || n.is_variable() ? there : std::string(); }, by_function);
    for (const auto* nodes : {&on_cpu, &in_scope, &by_function})
        for (const auto& [device, n] : *nodes) std::printf("%s: %d nodes\n", device.c_str(), n);
    std::printf("loss, on the CPU: %g, dense layers on %s: %g, products alone: %g\n", cpu_alone, there.c_str(), both,
                products);
    expect(on_cpu.size() == 1 && in_scope.size() == 2 && by_function.size() == 2, "the log names the devices used");
    for (const float loss : {both, products})
        expect(loss < 0.05f && std::abs(loss - cpu_alone) < 1e-2f, "all learn the same");
}
