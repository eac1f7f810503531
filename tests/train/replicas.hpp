// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A small model, its batches, and its training in one process, for tests of training by several replicas.

#include <chrono>
#include <exception>
#include <thread>
#include <tuple>
#include <vector>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/session/session.hpp>
#include <rill/train/optimizer.hpp>

namespace replica_test {

using namespace rill;

constexpr int replicas = 3, steps = 8;
constexpr std::chrono::seconds long_enough{20}; // for a step that must not wait for ever

/// Returns the batch of a replica in a step.
inline std::vector<float> inputs(int replica, int step) {
    std::vector<float> x;
    for (int i = 0; i < 5; ++i) x.push_back(0.3f * static_cast<float>((i * 7 + replica * 5 + step * 3) % 11) - 1.2f);
    return x;
}
/// Returns the rows of the table that it looks up.
inline std::vector<int> words(int replica, int step) {
    std::vector<int> all;
    for (int i = 0; i < 5; ++i) all.push_back((i * i + replica * 2 + step) % 6); // some of them twice
    return all;
}

/// A table of rows, and a weight and a bias.
struct model {
    variable<float, 6, 2> table{"table", 0.25f};
    variable<float, 2> w{"w", {0.5f, -0.25f}};
    variable<float> b{"b", 0.f};
    variable<std::int64_t> step{"global_step", 0, {.trainable = false}};

    auto loss(const tensor<float, dyn>& x, const tensor<int, dyn>& ids) const {
        const tensor<float, dyn, 2> rows(gather(table, ids) * w);
        return reduce_mean(square(reduce_sum(rows, 1) + b - x));
    }
};

using weights = std::tuple<xt::xtensor<float, 2>, xt::xtensor<float, 1>, float>;

inline weights values_of(const session& s, const model& m) { return s.run(std::tuple(m.table, m.w, m.b)); }

/// Trains in one process: the mean of the gradients of all replicas.
template <class Optimizer> weights alone(const Optimizer& by) {
    const graph g;
    const graph_scope here(g);
    const model m;
    std::vector<placeholder<float, dyn>> x;
    std::vector<placeholder<int, dyn>> ids;
    tensor<float, 6, 2> table;
    tensor<float, 2> w;
    tensor<float> b;
    for (int k = 0; k < replicas; ++k) {
        x.emplace_back("x");
        ids.emplace_back("ids");
        const auto [dt, dw, db] = gradients(m.loss(x.back(), ids.back()), m.table, m.w, m.b);
        table = k == 0 ? tensor<float, 6, 2>(dt) : tensor<float, 6, 2>(table + dt);
        w = k == 0 ? tensor<float, 2>(dw) : tensor<float, 2>(w + dw);
        b = k == 0 ? tensor<float>(db) : tensor<float>(b + db);
    }
    constexpr float n = replicas;
    const auto train = by.apply_gradients(
        {{tensor<float, 6, 2>(table / n), m.table}, {tensor<float, 2>(w / n), m.w}, {tensor<float>(b / n), m.b}});
    const session s;
    s.run(global_variables_initializer());
    for (int i = 0; i < steps; ++i) {
        std::vector<feed_value> feeds;
        for (int k = 0; k < replicas; ++k) {
            feeds.push_back(feed(x[static_cast<std::size_t>(k)], inputs(k, i)));
            feeds.push_back(feed(ids[static_cast<std::size_t>(k)], words(k, i)));
        }
        s.run(train, feeds);
    }
    return values_of(s, m);
}

/// Runs f(0), …, f(n - 1), each on a thread of its own, and rethrows the first error.
template <class F> void in_threads(int n, const F& f) {
    std::vector<std::thread> all;
    std::vector<std::exception_ptr> problems(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k)
        all.emplace_back([&, k] {
            try {
                f(k);
            } catch (...) {
                problems[static_cast<std::size_t>(k)] = std::current_exception();
            }
        });
    for (auto& t : all) t.join();
    for (const auto& p : problems)
        if (p) std::rethrow_exception(p);
}

} // namespace replica_test
