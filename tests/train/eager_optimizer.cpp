// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/eager_optimizer.hpp>

#include <rill/ops/array/gather.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/train/adam.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/momentum.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_eager_optimizer {

constexpr auto line_loss = [](auto w, auto b, auto x, auto y) { return reduce_mean(square(w * x + b - y)); };

/// The same training in a session: w and b after so many steps.
template <class Optimizer>
std::pair<float, float> in_a_session(const Optimizer& by, const xt::xtensor<float, 1>& xs,
                                     const xt::xtensor<float, 1>& ys, int steps) {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn> x("x"), y("y");
    const variable<float> w("w", 0.f), b("b", 0.f);
    const auto train = by.minimize(line_loss(w, b, x, y));
    const session s(g);
    s.run(global_variables_initializer());
    for (int i = 0; i < steps; ++i) s.run(train, feed(x, xs), feed(y, ys));
    return {s.run(w), s.run(b)};
}

} // namespace test_eager_optimizer

using namespace test_eager_optimizer;

TEST_CASE("eager_optimizer: the same steps as in a session, however they are made") {
    const xt::xtensor<float, 1> xs{0, 1, 2, 3}, ys{1, 3, 5, 7};
    const auto check = [&](const auto& by) {
        const eager_variable<float> w("w", 0.f), b("b", 0.f);
        const eager_optimizer train(by, w, b);
        const auto f = value_and_grad<2>(line_loss);
        const auto step = train.minimize(line_loss);
        for (int i = 0; i < 20; ++i) {
            const auto [l, dw, db] = f(w, b, xs, ys);
            if (i % 2) {
                CHECK(step(xs, ys) == Approx(l)); // as it was before the step
            } else {
                train.apply(dw, db); // the slots are the same
            }
        }
        const auto [ws, bs] = in_a_session(by, xs, ys, 20);
        CHECK(w.value() == Approx(ws));
        CHECK(b.value() == Approx(bs));
    };
    check(gradient_descent(0.05f));
    check(momentum({.learning_rate = 0.02, .momentum = 0.9}));
    check(adam(0.1f));
}

TEST_CASE("eager_optimizer: data of several types and shapes, one set of slots") {
    const eager_variable<double, 3> w("w", {1, 1, 1});
    const eager_optimizer train(adam(0.1f), w);
    int traced = 0;
    const auto step = train.minimize([&](auto v, auto x) {
        ++traced;
        return reduce_sum(square(v * x));
    });
    const auto first = step(xt::xtensor<double, 1>{1, 2, 3});
    CHECK(first == 14);
    CHECK(step(xt::xtensor<double, 1>{1, 1, 1}) < 3);
    CHECK(step(2.) < first);
    CHECK(traced == 2);
    for (int i = 0; i < 200; ++i) step(1.);
    CHECK(std::abs(w.value()(2)) < 0.01);
}

TEST_CASE("eager_optimizer: variables of several types, and rows of a table") {
    const eager_variable<float, 4, 2> table("table", ones());
    const eager_variable<double> scale("scale", 2.);
    const eager_optimizer both(gradient_descent(0.5f), table, scale);
    both.apply(xt::ones<float>({4, 2}), 1.);
    CHECK(table.value()(3, 1) == 0.5f);
    CHECK(scale.value() == 1.5);
    const eager_optimizer rows(gradient_descent(0.5f), table);
    const auto step = rows.minimize([](auto t, auto ids) { return reduce_sum(gather<0>(t, ids)); });
    step(std::vector<int>{1, 1});
    CHECK(table.value()(0, 0) == 0.5f);
    CHECK(table.value()(1, 0) == -0.5f);
}

TEST_CASE("eager_optimizer: variables of one name are told apart") {
    const eager_variable<float> a("v", 1.f), b("v", 2.f);
    const eager_optimizer train(momentum(0.5f), a, b);
    train.apply(1.f, 0.f);
    CHECK(a.value() == 0.5f);
    CHECK(b.value() == 2.f);
    const auto step = train.minimize([](auto, auto y) { return y * y; });
    CHECK(step() == 4.f);
    CHECK(a.value() == 0.5f); // the loss does not depend on it
    CHECK(b.value() == 0.f);
}

TEST_CASE("eager_optimizer: what does not fit") {
    const eager_variable<float, 2> w("w", zeros());
    const eager_optimizer train(adam(), w);
    CHECK_THROWS_WITH(train.apply(xt::xtensor<float, 1>{1, 2, 3}), contains("feed: ") && contains("[3]"));
    CHECK_THROWS_WITH(train.minimize([](auto, auto x) { return reduce_sum(x); })(1.f),
                      contains("minimize: ") && contains("depends on no trainable variable"));
}
