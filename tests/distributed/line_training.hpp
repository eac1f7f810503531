// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A small model for training that is interrupted: what a step computes follows from its number and the replica alone, so that a step which is
// repeated after a restore has the same gradients.

#include <cstdint>
#include <tuple>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/global_step.hpp>

namespace line_training {

using namespace rill;

constexpr int workers = 2;

/// A line through points of a step and a replica.
struct model {
    variable<std::int64_t> step = get_or_create_global_step();
    variable<float, 2> w{"w", {0.5f, -0.25f}};
    variable<float> b{"b", 0.f};

    tensor<float> loss(int replica) const {
        const tensor<float> x(cast<float>(step) * 0.25f - static_cast<float>(replica));
        return reduce_mean(square(w * x + b - (x * 2.f + 1.f)));
    }
};

/// The step, and the weights.
using weights = std::tuple<std::int64_t, xt::xtensor<float, 1>, float>;

inline weights values_of(const session& s, const model& m) { return s.run(std::tuple(m.step, m.w, m.b)); }

/// Returns the weights after so many steps of one process, which computes the mean of the gradients of all replicas.
inline weights alone(std::int64_t steps) {
    const graph g;
    const graph_scope here(g);
    const model m;
    tensor<float, 2> w;
    tensor<float> b;
    for (int k = 0; k < workers; ++k) {
        const auto [dw, db] = gradients(m.loss(k), m.w, m.b);
        w = k == 0 ? tensor<float, 2>(dw) : tensor<float, 2>(w + dw);
        b = k == 0 ? tensor<float>(db) : tensor<float>(b + db);
    }
    constexpr float n = workers;
    const auto train =
        adam(0.05f).apply_gradients({{tensor<float, 2>(w / n), m.w}, {tensor<float>(b / n), m.b}}, m.step);
    const session s;
    s.run(global_variables_initializer());
    for (std::int64_t i = 0; i < steps; ++i) s.run(train);
    return values_of(s, m);
}

} // namespace line_training
