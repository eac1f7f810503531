// SPDX-License-Identifier: BSD-3-Clause
// Two placers. The simple one puts what requests no device on the first one. The other one simulates the run over estimated costs: two
// chains of products that meet then run beside each other. Both give the same bits.
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <rill/passes/place_by_cost.hpp>
#include <rill/passes/prune.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

using matrix = tensor<float, 200, 200>;

/// Two chains of products that meet.
struct model {
    placeholder<float, 200, 200> x{"x"};
    matrix first = chain("first", 0.5f), second = chain("second", 0.25f);
    tensor<float> meet = reduce_mean(matmul(first, second));

    matrix chain(const std::string& name, float by) const {
        const name_scope scope(name);
        matrix m(x * by);
        for (int i = 0; i < 4; ++i) m = matmul(m, x);
        return m;
    }
    /// Returns the time of a step on two devices, in simulated microseconds.
    double simulated(placers placer) const {
        const std::vector<endpoint> fetches{meet}, feeds{x};
        placement where({{"cpu", 2}}, cpu_device(), false, {}, placer);
        return simulated_microseconds(place(prune(fetches, {}, feeds), where));
    }
};

int main() {
    const model m;
    const double simple = m.simulated(placers::simple), by_cost = m.simulated(placers::by_cost);
    std::printf("simulated: %.0f us with the simple placer, %.0f us by cost\n", simple, by_cost);
    expect(by_cost < 0.7 * simple, "chains run beside each other where the placer knows their costs");

    xt::xtensor<float, 2> xs = xt::zeros<float>({200, 200});
    for (std::size_t i = 0; i < 200; ++i)
        for (std::size_t k = 0; k < 200; ++k) xs(i, k) = static_cast<float>((i * 7 + k * 3) % 11) / 600.f;
    std::vector<float> values;
    for (const auto placer : {placers::simple, placers::by_cost}) {
        std::map<std::string, int> products; // per device
        set_log_sink([&](log_level, std::string_view line) {
            if (line.find("MatMul") != std::string_view::npos)
                ++products[std::string(line.substr(line.rfind(' ') + 1))];
        });
        const session s({.inter_op_threads = 1,
                         .device_count = {{"cpu", 2}},
                         .placer = placer,
                         .partition_devices = true,
                         .log_device_placement = true});
        values.push_back(s.run(m.meet, feed(m.x, xs)));
        set_log_sink({});
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 20; ++i) s.run(m.meet, feed(m.x, xs));
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        std::printf("%s: %.0f us a step\n", placer == placers::simple ? "simple" : "by cost", took.count() / 20);
        for (const auto& [device, n] : products) std::printf("  %s: %d products\n", device.c_str(), n);
        expect(products.size() == (placer == placers::simple ? 1u : 2u), "only the placer by cost uses both devices");
    }
    expect(values[0] == values[1], "the placers give the same bits");
}
