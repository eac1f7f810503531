// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/momentum.hpp>

#include "train/harness.hpp"

using namespace rill;

TEST_CASE("momentum: by the published formula, typed and not, and by rows") {
    train_test::check(momentum({.learning_rate = 0.05, .momentum = 0.8}), vectors::momentum, vectors::momentum_rows,
                      "ApplyMomentumRows");
}

TEST_CASE("momentum: Nesterov's") {
    train_test::check(momentum({.learning_rate = 0.05, .momentum = 0.8, .nesterov = true}), vectors::nesterov,
                      vectors::nesterov_rows, "ApplyMomentumRows");
}

TEST_CASE("momentum: defaults, a rate alone, fields") {
    CHECK(momentum().options().momentum == 0.9);
    CHECK_FALSE(momentum(0.1f).options().nesterov);
    CHECK(momentum(0.5).options().learning_rate == 0.5);
    CHECK(momentum({}).options().learning_rate == 0.01);
    train_test::check_fields(momentum_rule{.momentum = 0.5});
    train_test::check_fields(momentum_rule{.nesterov = true});
}
