// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/gradient_descent.hpp>

#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/square.hpp>

#include "train/harness.hpp"

using namespace rill;

TEST_CASE("gradient_descent: against a plain loop") {
    const graph g;
    const graph_scope here(g);
    variable<double, 3> w("w", {1.0, -2.0, 3.0});
    const operation train = gradient_descent({.learning_rate = 0.1}).minimize(reduce_sum(square(w)));
    session s;
    s.run(global_variables_initializer());
    double x[] = {1, -2, 3};
    for (int i = 0; i < 10; ++i) {
        s.run(train);
        for (double& v : x) v -= 0.1 * 2 * v;
    }
    const auto got = s.run(w);
    for (std::size_t i = 0; i < 3; ++i) CHECK(got(i) == Approx(x[i]));
}

TEST_CASE("gradient_descent: by the published formula, typed and not, and by rows") {
    train_test::check(gradient_descent(0.05), vectors::gradient_descent, vectors::gradient_descent_rows,
                      "ApplyGradientDescentRows");
}

TEST_CASE("gradient_descent: gradients that are products of variables see them as the step began") {
    const graph g;
    const graph_scope here(g);
    variable<float, 2, 2> a("a", {{1.f, 2.f}, {3.f, 4.f}}), b("b", {{0.5f, -1.f}, {2.f, 1.f}});
    const auto loss = reduce_sum(matmul(a, b));
    const operation train = gradient_descent(0.1f).minimize(loss);
    const session s(g);
    s.run(global_variables_initializer());
    s.run(train);
    const auto av = s.run(a), bv = s.run(b);
    CHECK(av(0, 0) == Approx(1 - 0.1 * -0.5));
    CHECK(av(1, 1) == Approx(4 - 0.1 * 3));
    CHECK(bv(0, 1) == Approx(-1 - 0.1 * 4)); // by a's first column, 1 + 3
    CHECK(bv(1, 0) == Approx(2 - 0.1 * 6));
}
