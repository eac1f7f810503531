// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/adam.hpp>

#include <rill/ops/math/square.hpp>

#include "train/harness.hpp"

using namespace rill;

TEST_CASE("adam: ten steps against a plain loop") {
    const graph g;
    const graph_scope here(g);
    variable<double, 2> w("w", {1.0, -2.0});
    const operation train = adam({.learning_rate = 0.1, .beta1 = 0.8}).minimize(reduce_sum(square(w)));
    session s;
    s.run(global_variables_initializer());
    double x[] = {1, -2}, m[] = {0, 0}, v[] = {0, 0};
    for (int t = 1; t <= 10; ++t) {
        s.run(train);
        for (int i = 0; i < 2; ++i) {
            const double d = 2 * x[i];
            m[i] = 0.8 * m[i] + 0.2 * d;
            v[i] = 0.999 * v[i] + 0.001 * d * d;
            x[i] -= 0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.8, t)) * m[i] / (std::sqrt(v[i]) + 1e-8);
        }
    }
    const auto got = s.run(w);
    CHECK(got(0) == Approx(x[0]));
    CHECK(got(1) == Approx(x[1]));
    CHECK(g.collection(collections::trainable_variables).size() == 1); // slots and powers are not trained
}

TEST_CASE("adam: by the published formula, typed and not, and of a table, all of whose rows move") {
    const adam by({.learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-4});
    train_test::check(by, vectors::adam, vectors::adam_rows, "ApplyAdam");
}

TEST_CASE("adam: lazy, of a table only rows that have a gradient move") {
    const adam by({.learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-4, .lazy = true});
    train_test::check(by, vectors::adam, vectors::lazy_adam_rows, "ApplyLazyAdamRows");
}
