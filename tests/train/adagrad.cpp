// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/adagrad.hpp>

#include <rill/ops/math/square.hpp>

#include "train/harness.hpp"

using namespace rill;

TEST_CASE("adagrad: by the published formula, typed and not, and by rows") {
    train_test::check(adagrad(0.05), vectors::adagrad, vectors::adagrad_rows, "ApplyAdagradRows");
}

TEST_CASE("adagrad: what its slot starts with") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 2> w("w", {1.f, 2.f});
    const operation train = adagrad({.initial_accumulator_value = 0.25}).minimize(reduce_sum(square(w)));
    session s;
    s.run(global_variables_initializer());
    CHECK(s.run(fetch("adagrad/w/accumulator:0")).elements<float>()[1] == 0.25f);
    s.run(train);
    CHECK(s.run(fetch("adagrad/w/accumulator:0")).elements<float>()[1] == 16.25f);
    CHECK(adagrad().options().initial_accumulator_value == 0.1);
    CHECK_THROWS_WITH(adagrad({.initial_accumulator_value = 0}).minimize(reduce_sum(w)), contains("must be positive"));
}
