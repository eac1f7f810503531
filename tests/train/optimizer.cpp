// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/optimizer.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/runtime/session.hpp>
#include <rill/train/adam.hpp>
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

TEMPLATE_TEST_CASE("optimizer: a loss of unknown type", "", float, double) {
    const graph g;
    const graph_scope here(g);
    variable<TestType> w("w", TestType(3));
    variable<int> step("step", 0, {.trainable = false});
    const any_tensor loss = square(any_tensor(w) * TestType(2));
    const gradient_descent descent(0.01f);
    REQUIRE(descent.compute_gradients(loss).size() == 1);
    const operation train = descent.minimize(loss), counted = descent.minimize(loss, step);
    CHECK(std::string(train.node()->where.file_name()).find("optimizer.cpp") != std::string::npos);
    const session s(g);
    s.run(global_variables_initializer());
    s.run(train);
    s.run(counted);
    CHECK(s.run(w) == Approx(3.0 * std::pow(1 - 0.01 * 8, 2)));
    CHECK(s.run(step) == 1);
}

TEST_CASE("optimizer: losses of unknown type that have no gradients, or none that is compiled") {
    const graph g;
    const graph_scope here(g);
    const gradient_descent descent(0.01f);
    CHECK_THROWS_WITH(descent.minimize(any_placeholder("ids", dtype::int32)),
                      contains("must be float32 or float64; 'ids:0' is int32") && contains("optimizer.cpp"));
    CHECK_THROWS_WITH(descent.minimize(any_placeholder("small", dtype::half, {})), contains("float32 or float64"));
    CHECK_THROWS_WITH(descent.minimize(any_placeholder("wide", dtype::float32, {dyn, 2})), contains("reduce_mean"));
    CHECK_THROWS_AS(descent.minimize(any_tensor()), failed_precondition);
}

TEST_CASE("optimizer: slots are made whatever the updates wait for, and no gradients are an error") {
    const graph g;
    const graph_scope here(g);
    variable<float> w("w", 1.f), count("count", 0.f);
    const auto train = [&] {
        const control_dependencies after(count.assign_add(1.f));
        return adam(0.1f).minimize(square(w));
    }();
    session s;
    s.run(global_variables_initializer());
    CHECK(s.run(count) == 0);
    s.run(train);
    CHECK(s.run(count) == 1);
    CHECK_THROWS_AS(adam(0.1f).apply_gradients<float>({}), invalid_argument);
}
