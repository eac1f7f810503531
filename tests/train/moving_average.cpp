// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/moving_average.hpp>

#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>

#include "train/harness.hpp"

using namespace rill;

TEMPLATE_TEST_CASE("moving_average: by the published formula, by a fixed decay and by the number of steps", "", float,
                   double) {
    const graph g;
    const graph_scope here(g);
    const auto first = train_test::part<TestType>(vectors::first, 0, 12);
    const variable<TestType, 4, 3> w("w", first);
    variable<std::int64_t> n("n", 0, {.trainable = false});
    const placeholder<TestType, 4, 3> value("value");
    exponential_moving_average fixed(0.9), counted(0.9, n);
    const tensor<TestType, 4, 3> assigned = w.assign(value);
    const auto [move, mean] = [&] {
        const control_dependencies after(assigned);
        const operation one = fixed.apply({w}), other = counted.apply(); // all trainable variables
        const tensor<TestType, 4, 3> typed = fixed.average(w);
        return std::pair(group(one, other), typed);
    }();
    const operation count = [&] {
        const control_dependencies after(move);
        return group(operation(n.assign_add(1).node()));
    }();
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(train_test::distance(s.run(mean), vectors::first, 0) < 1e-6); // where the variable begins
    for (std::size_t t = 0; t * 12 < vectors::gradients.size(); ++t) {
        auto at = train_test::part<TestType>(vectors::gradients, t * 12, 12);
        for (std::size_t i = 0; i < at.size(); ++i) at[i] += first[i];
        s.run(count, feed(value, at));
    }
    const double close = sizeof(TestType) == 8 ? 1e-12 : 1e-5;
    CHECK(train_test::distance(s.run(mean), vectors::moving_average, 0) < close);
    CHECK(train_test::distance(s.run(counted.average(w)), vectors::moving_average_counted, 0) < close);
}

TEST_CASE("moving_average: variables beside variables, by their names, that are not trained") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2, 2> w("layer/w", random_uniform());
    const variable<float> b("b", 1.f);
    exponential_moving_average ema(0.5);
    const operation train = gradient_descent(0.1).minimize(reduce_sum(w * w));
    const operation step = [&] {
        const name_scope elsewhere("elsewhere");
        const control_dependencies after(train);
        return ema.apply({w});
    }();
    CHECK(ema.average(w).name() == "layer/w/ExponentialMovingAverage:0");
    CHECK(exponential_moving_average::average_name(w) == "layer/w/ExponentialMovingAverage");
    CHECK(g.collection(collections::trainable_variables).size() == 2);
    CHECK(g.collection(collections::variables).size() == 3);
    session s;
    s.run(global_variables_initializer());
    const auto [before, mean_before] = s.run(std::tuple(w, ema.average(w)));
    CHECK(before == mean_before); // random, and the same
    s.run(step);
    CHECK(s.run(w)(1, 1) == Approx(0.8 * before(1, 1)));
    CHECK(s.run(ema.average(w))(1, 1) == Approx(0.9 * before(1, 1)));

    CHECK_THROWS_AS(ema.average(b), not_found);
    CHECK_THROWS_WITH(ema.average(b), contains("'b:0'"));
    CHECK_THROWS_AS(ema.apply({w}), already_exists);
    CHECK_THROWS_WITH(ema.apply({any_tensor(w + 1.f)}), contains("not a variable"));
    const variable<int> count("count", 1);
    CHECK_THROWS_WITH(ema.apply({count}), contains("'count:0' is int32"));
    CHECK_THROWS_AS(exponential_moving_average(1.5), invalid_argument);
    CHECK_THROWS_AS(exponential_moving_average(0.5).apply({any_tensor()}), error);
}

TEST_CASE("moving_average: its rule by name") {
    CHECK(std::string(make_op("AssignMovingAverage")->name()) == "AssignMovingAverage");
    const graph g;
    const graph_scope here(g);
    CHECK_THROWS_WITH(exponential_moving_average(0.5).apply(), contains("no trainable variables"));
}
