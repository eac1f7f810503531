// SPDX-License-Identifier: BSD-3-Clause
// Data parallel towers: ten copies of a model on ten devices, each with a tenth of a batch. The variables lie on one device; it averages
// the gradients and updates. Ten towers of 100 rows learn as one model with all 1,000 does.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

constexpr index_t features = 6;
constexpr int towers = 10, rows = 100;

struct model {
    variable<double, features, 1> w{"w", xt::xtensor<double, 2>(xt::zeros<double>({6, 1}))};
    variable<double, 1> b{"b", {0.}};

    tensor<double> loss(const tensor<double, dyn, features>& x, const tensor<double, dyn, 1>& y) const {
        return reduce_mean(square(matmul(x, w) + b - y));
    }
};

int main() {
    const std::size_t n = static_cast<std::size_t>(towers * rows);
    xt::xtensor<double, 2> xs = xt::zeros<double>({n, std::size_t(features)}),
                           ys = xt::zeros<double>({n, std::size_t(1)});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < std::size_t(features); ++k) {
            xs(i, k) = std::sin(static_cast<double>(i * (k + 1)) * 0.7);
            ys(i, 0) += xs(i, k) * (static_cast<double>(k) - 2.5);
        }
    const auto learn = [&](bool in_towers, bool cut) {
        const graph g;
        const graph_scope here(g);
        const placeholder<double, dyn, features> x("x");
        const placeholder<double, dyn, 1> y("y");
        const model m;
        tensor<double, features, 1> dw;
        tensor<double, 1> db;
        if (!in_towers) {
            const auto [w, b] = gradients(m.loss(x, y), m.w, m.b);
            dw = w, db = b;
        } else {
            for (int t = 0; t < towers; ++t) {
                const name_scope name("tower_" + std::to_string(t));
                const device_scope on("/cpu:" + std::to_string(t + 1));
                const tensor<double, dyn, features> own_x = x(slice_range{t * rows, (t + 1) * rows});
                const tensor<double, dyn, 1> own_y = y(slice_range{t * rows, (t + 1) * rows});
                const auto [tw, tb] = gradients(m.loss(own_x, own_y), m.w, m.b);
                const device_scope together("/cpu:0");
                dw = t == 0 ? tensor<double, features, 1>(tw) : tensor<double, features, 1>(dw + tw);
                db = t == 0 ? tensor<double, 1>(tb) : tensor<double, 1>(db + tb);
            }
            dw = tensor<double, features, 1>(dw / static_cast<double>(towers));
            db = tensor<double, 1>(db / static_cast<double>(towers));
        }
        const auto train = group(tensor(m.w.assign_sub(dw * 0.2)), tensor(m.b.assign_sub(db * 0.2)));
        const session s({.device_count = {{"cpu", towers + 1}}, .partition_devices = cut});
        s.run(global_variables_initializer());
        for (int step = 0; step < 200; ++step) s.run(train, feed(x, xs), feed(y, ys));
        return s.run(m.w);
    };
    const auto one = learn(false, false), ten = learn(true, false), parts = learn(true, true);
    double apart = 0;
    for (std::size_t k = 0; k < std::size_t(features); ++k) {
        std::printf("w[%zu]: %.15f %.15f\n", k, one(k, 0), ten(k, 0));
        apart = std::max(apart, std::abs(one(k, 0) - ten(k, 0)));
        expect(ten(k, 0) == parts(k, 0), "in parts, the same bits");
        expect(std::abs(one(k, 0) - (static_cast<double>(k) - 2.5)) < 1e-3, "it has learnt");
    }
    std::printf("ten towers and one model are %g apart\n", apart);
    expect(apart < 1e-12, "ten towers give what one model does, but for rounding");
}
