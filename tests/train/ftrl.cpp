// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/ftrl.hpp>

#include "train/harness.hpp"

using namespace rill;

TEST_CASE("ftrl: by the published formula, typed and not, and by rows") {
    train_test::check(ftrl(0.05), vectors::ftrl, vectors::ftrl_rows, "ApplyFtrlRows");
}

TEST_CASE("ftrl: regularized, with another power") {
    const ftrl regularized({.learning_rate = 0.05,
                            .learning_rate_power = -0.7,
                            .l1_regularization_strength = 0.6,
                            .l2_regularization_strength = 0.3});
    train_test::check(regularized, vectors::ftrl_regularized, vectors::ftrl_regularized_rows, "ApplyFtrlRows");
    bool zero = false; // l1 makes some
    for (const double v : vectors::ftrl_regularized) zero |= v == 0;
    CHECK(zero);
}

TEST_CASE("ftrl: options that make no sense, fields") {
    const graph g;
    const graph_scope here(g);
    const variable<double> w("w", 2.);
    CHECK_THROWS_WITH(ftrl({.learning_rate_power = 0.5}).minimize(w * w), contains("learning_rate_power"));
    CHECK_THROWS_WITH(ftrl({.initial_accumulator_value = -1}).minimize(w * w), contains("initial_accumulator_value"));
    CHECK_THROWS_WITH(ftrl({.l1_regularization_strength = -1}).minimize(w * w), contains("l1_regularization_strength"));
    CHECK_THROWS_WITH(ftrl({.l2_regularization_strength = -1}).minimize(w * w), contains("l2_regularization_strength"));
    train_test::check_fields(ftrl_rule{.learning_rate_power = -0.25});
    train_test::check_fields(ftrl_rule{.l1 = 0.5});
    train_test::check_fields(ftrl_rule{.l2 = 0.5});
}
