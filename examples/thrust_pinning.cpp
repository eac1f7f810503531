// SPDX-License-Identifier: BSD-3-Clause
// A model over two types of device, as over CPU and GPU: input and sparse work on the CPU, dense layers on the device "thrust", which has the
// kernels of the GPU on threads of the host. Compiled with RILL_MORE_DEVICES=<rill/thrust.hpp>; with <rill/gpu.hpp> and "/gpu:0" the same
// lines train on a GPU (docs/gpu.md).
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

/// Trains a small network on words given as ids. Returns the last loss.
float train(const std::string& dense_layers) {
    const graph g;
    const graph_scope here(g);
    placeholder<int, dyn> ids("ids");
    placeholder<float, dyn, 1> y("y");
    variable<float, 20, 4> table(
        "table", random_uniform({.minval = -1.f, .maxval = 1.f, .seed = 7})); // rows of it change, on the CPU
    tensor<float, dyn, 4> words = gather<0>(table, ids);
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
    const session s;
    s.run(global_variables_initializer());
    for (int i = 0; i < 100; ++i) s.run(step, feed(ids, all), feed(y, wanted));
    return s.run(loss, feed(ids, all), feed(y, wanted));
}

} // namespace

int main() {
    const float cpu_alone = train("/device:cpu:0"), both = train("/device:thrust:0");
    std::printf("loss, on the CPU: %g, dense layers on thrust:0: %g\n", cpu_alone, both);
    expect(both < 0.05f && std::abs(both - cpu_alone) < 1e-2f, "both learn the same");

    const graph g;
    const graph_scope here(g);
    const session s({.device_count = {{"thrust", 2}}});
    for (const auto& d : s.devices()) std::printf("%s\n", d.name.c_str());

    // a device that this program lacks: an error by default, the CPU where soft placement is allowed
    const device_scope there("/gpu:0");
    const tensor y(constant(20.f) + 1.f);
    try {
        s.run(y);
        expect(false, "a device that is not there is refused");
    } catch (const invalid_argument& e) {
        std::printf("%s\n", e.what());
    }
    const session soft({.allow_soft_placement = true});
    expect(soft.run(y) == 21.f, "soft placement takes the CPU");
}
