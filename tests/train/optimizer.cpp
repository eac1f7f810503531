// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/optimizer.hpp>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/runtime/session.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("optimizer: the two halves, variables that don't matter, a step counter") {
    const graph g;
    const graph_scope here(g);
    variable<float> w("w", 3.f), unused("unused", 1.f), frozen("frozen", 2.f, {.trainable = false});
    variable<std::int64_t> step("step", 0, {.trainable = false});
    const auto loss = square(w * frozen);
    const gradient_descent descent(0.01f);
    const auto pairs = descent.compute_gradients(loss);
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].variable.name() == "w:0");
    const operation train = descent.minimize(loss, step);
    session s;
    s.run(global_variables_initializer());
    for (int i = 0; i < 5; ++i) s.run(train);
    CHECK(s.run(step) == 5);
    CHECK(s.run(w) == Approx(3.0 * std::pow(1 - 0.01 * 8, 5)));
    CHECK(s.run(frozen) == 2.f);
    CHECK(s.run(unused) == 1.f);
    CHECK_THROWS_AS(descent.minimize(square(frozen)), invalid_argument);
}
