// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/adadelta.hpp>

#include "train/harness.hpp"

using namespace rill;

TEST_CASE("adadelta: by the published formula, typed and not, and by rows") {
    train_test::check(adadelta({.learning_rate = 0.05, .rho = 0.9, .epsilon = 1e-3}), vectors::adadelta,
                      vectors::adadelta_rows, "ApplyAdadeltaRows");
}

TEST_CASE("adadelta: defaults and fields") {
    CHECK(adadelta().options().learning_rate == 0.001);
    CHECK(adadelta().options().rho == 0.95);
    CHECK(adadelta(0.5f).options().epsilon == 1e-8);
    train_test::check_fields(adadelta_rule{.rho = 0.5});
    train_test::check_fields(adadelta_rule{.epsilon = 0.5});
}
