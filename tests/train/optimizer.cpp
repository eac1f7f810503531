// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/optimizer.hpp>

#include <algorithm>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/session/session.hpp>
#include <rill/train/adagrad.hpp>
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

TEST_CASE("optimizer: gradients applied without naming their type, of two types, some missing, and counted") {
    const graph g;
    const graph_scope here(g);
    variable<float> a("a", 3.f);
    variable<double> b("b", 5.);
    variable<std::int64_t> step("step", 0, {.trainable = false});
    const gradient_descent descent(0.5);
    std::vector<gradient_and_variable> pairs = descent.compute_gradients(square(a));
    pairs.push_back({constant(2.), b});
    pairs.push_back({{}, b}); // none: left out
    const operation once = descent.apply_gradients(pairs), counted = descent.apply_gradients(pairs, step);
    const operation by_adam = adam(0.1).apply_gradients(pairs, step); // the powers once for each type
    session s;
    s.run(global_variables_initializer());
    s.run(once);
    CHECK(s.run(a) == 0.f);
    CHECK(s.run(b) == 4.);
    CHECK(s.run(step) == 0);
    s.run(counted);
    CHECK(s.run(b) == 3.);
    CHECK(s.run(step) == 1);
    s.run(by_adam);
    CHECK(s.run(b) == Approx(2.9));
    CHECK(std::string(once.node()->where.file_name()).find("optimizer.cpp") != std::string::npos);

    variable<int> whole("whole", 1);
    CHECK_THROWS_AS(descent.apply_gradients({}), invalid_argument);
    CHECK_THROWS_AS(descent.apply_gradients({{{}, a}}), invalid_argument);
    CHECK_THROWS_WITH(descent.apply_gradients({{constant(1), whole}}), contains("'whole:0' is int32"));
    CHECK_THROWS_WITH(descent.apply_gradients<float>(pairs), contains("'b:0' is float64") && contains("float32"));
}

TEMPLATE_TEST_CASE("optimizer: a learning rate that the graph computes", "", float, double) {
    const graph g;
    const graph_scope here(g);
    variable<TestType> w("w", TestType(3));
    variable<int> step("step", 0, {.trainable = false});
    placeholder<float> rate("rate");
    const any_tensor loss = square(w), loose = any_placeholder("loose", dtype::float64, {});
    const operation by_feed = gradient_descent(rate).minimize(loss), by_any = gradient_descent(loose).minimize(loss),
                    by_step = gradient_descent(0.1f / (1.f + cast<float>(step))).minimize(loss, step),
                    by_both = adagrad(rate, {.initial_accumulator_value = 1}).minimize(loss);
    const session s(g);
    s.run(global_variables_initializer());
    double x = 3;
    const auto moved = [&](double by) {
        x -= by * 2 * x;
        CHECK(s.run(w) == Approx(x));
    };
    for (const float r : {0.25f, 0.125f}) {
        s.run(by_feed, feed(rate, r));
        moved(r);
        s.run(by_any, feed(loose, static_cast<double>(r)));
        moved(r);
    }
    for (const double r : {0.1, 0.05, 0.1 / 3}) { // of the step's beginning: the counter is read before it is written
        s.run(by_step);
        moved(r);
    }
    s.run(by_both, feed(rate, 0.5f));
    moved(0.5 / std::sqrt(1 + 4 * x * x));
    CHECK_THROWS_AS(s.run(by_feed), invalid_argument);
}

TEST_CASE("optimizer: by chosen variables, counted") {
    const graph g;
    const graph_scope here(g);
    const variable<float> a("g/a", 1.f), b("g/b", 1.f), c("d/c", 1.f);
    const variable<std::int64_t> step("step", 0, {.trainable = false});
    const any_tensor any_step = step;
    const auto loss = square(a) + square(b) + square(c);
    const gradient_descent half_way(0.25);
    const operation by_scope = half_way.minimize(loss, {.variables = trainable_variables("g"), .step = step}),
                    by_list = half_way.minimize(loss, {.variables = {a, c}, .step = any_step}),
                    by_any = half_way.minimize(any_tensor(loss), {.variables = {c}});
    const session s(g);
    s.run(global_variables_initializer());
    s.run(by_scope);
    CHECK(s.run(a) + s.run(b) == 1.f);
    CHECK(s.run(c) == 1.f);
    s.run(by_list);
    CHECK(s.run(a) == 0.25f);
    CHECK(s.run(b) == 0.5f);
    s.run(by_any);
    CHECK(s.run(c) == 0.25f);
    CHECK(s.run(step) == 2);
    CHECK_THROWS_WITH(half_way.minimize(loss, {.variables = trainable_variables("typo")}),
                      contains("the list of variables is empty") && contains("optimizer.cpp"));
    CHECK_THROWS_WITH(half_way.minimize(square(a), {.variables = {b}}), contains("none of the given variables"));
    CHECK_THROWS_WITH(half_way.minimize(loss, {.variables = {any_tensor(square(a))}}), contains("is not a variable"));
    CHECK_THROWS_WITH(half_way.minimize(loss, {.step = any_tensor(a)}), contains("counted in an int32 or int64"));
}

TEST_CASE("optimizer: gradients beside the nodes that they are of") {
    const graph g;
    const graph_scope here(g);
    const variable<float> w("w", 3.f);
    const tensor loss(square(w - 1.f), "loss");
    for (const bool beside : {false, true}) {
        const auto train = gradient_descent(0.25f).minimize(loss, {.colocate = beside});
        const auto nodes = g.nodes();
        CHECK(std::ranges::any_of(nodes, [&](const node* n) { return n->colocated == loss.node(); }) == beside);
        const session s;
        s.run(global_variables_initializer());
        s.run(train);
        CHECK(s.run(w) == 2.f);
    }
}

TEST_CASE("optimizer: variables of run-time shape, with slots") {
    const graph g;
    const graph_scope here(g);
    const variable<float, dyn> w("w", dims{3}, 1.f);
    const auto loss = reduce_sum(square(w));
    const operation train = group(gradient_descent(1).minimize(loss)), by_adam = adam(0.5f).minimize(loss);
    const session s(g);
    s.run(global_variables_initializer());
    s.run(train); // an integer rate: w - 2 w
    CHECK(s.run(w)(2) == -1.f);
    s.run(by_adam);
    CHECK(s.run(w)(2) == Approx(-0.5f));
}
