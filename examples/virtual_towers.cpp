// SPDX-License-Identifier: BSD-3-Clause
// Data parallel towers on one GPU: four virtual devices, each with a part of its memory, train copies of a model on a quarter of the batch.
// The variables lie on the first one, which averages the gradients. The same lines run on four cards: leave the limits out.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "accelerator.hpp"
#include "expect.hpp"

using namespace rill;

constexpr index_t features = 6;
constexpr int towers = 4, rows = 50;
constexpr std::size_t limit = std::size_t(8) << 20;

struct model {
    variable<float, features, 1> w{"w", xt::xtensor<float, 2>(xt::zeros<float>({6, 1}))};

    tensor<float> loss(const tensor<float, dyn, features>& x, const tensor<float, dyn, 1>& y) const {
        return reduce_mean(square(matmul(x, w) - y));
    }
};

int main() {
    const std::string type = accelerator();
    const auto n = static_cast<std::size_t>(towers * rows);
    xt::xtensor<float, 2> xs = xt::zeros<float>({n, std::size_t(features)}),
                          ys = xt::zeros<float>({n, std::size_t(1)});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < std::size_t(features); ++k) {
            xs(i, k) = std::sin(static_cast<float>(i * (k + 1)) * 0.7f);
            ys(i, 0) += xs(i, k) * (static_cast<float>(k) - 2.5f);
        }
    const auto learn = [&](int count, bool cut) {
        const graph g;
        const graph_scope here(g);
        const auto on = [&](int t) { return "/device:" + type + ":" + std::to_string(t); };
        const placeholder<float, dyn, features> x("x");
        const placeholder<float, dyn, 1> y("y");
        const device_scope together(on(0));
        const model m;
        tensor<float, features, 1> sum;
        for (int t = 0; t < count; ++t) {
            const name_scope name("tower_" + std::to_string(t));
            tensor<float, features, 1> own;
            {
                const device_scope there(on(t));
                const index_t begin = t * rows * towers / count, end = (t + 1) * rows * towers / count;
                const tensor<float, dyn, features> own_x = x(slice_range{begin, end});
                const tensor<float, dyn, 1> own_y = y(slice_range{begin, end});
                own = std::get<0>(gradients(m.loss(own_x, own_y), m.w));
            }
            sum = t == 0 ? own : tensor<float, features, 1>(sum + own);
        }
        const auto train = group(tensor(m.w.assign_sub(sum * (0.2f / static_cast<float>(count)))));
        const std::vector<std::size_t> limits(static_cast<std::size_t>(count), limit);
        const session s({.partition_devices = cut, .gpu = {.virtual_devices = {limits}}});
        if (count > 1 && !cut)
            for (const auto& d : s.devices()) std::printf("%s: %zu bytes\n", d.name.c_str(), d.memory);
        s.run(global_variables_initializer());
        for (int step = 0; step < 200; ++step) s.run(train, feed(x, xs), feed(y, ys));
        return s.run(m.w);
    };
    const auto one = learn(1, false), four = learn(towers, false), parts = learn(towers, true);
    float apart = 0;
    for (std::size_t k = 0; k < std::size_t(features); ++k) {
        std::printf("w[%zu]: %.6f %.6f\n", k, static_cast<double>(one(k, 0)), static_cast<double>(four(k, 0)));
        apart = std::max(apart, std::abs(one(k, 0) - four(k, 0)));
        expect(four(k, 0) == parts(k, 0), "in parts, the same bits");
        expect(std::abs(four(k, 0) - (static_cast<float>(k) - 2.5f)) < 1e-2f, "it has learnt");
    }
    std::printf("four towers and one model are %g apart\n", static_cast<double>(apart));
    expect(apart < 1e-5f, "four towers give what one model does, but for rounding");
}
