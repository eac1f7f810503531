// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/adamw.hpp>

#include "train/harness.hpp"

using namespace rill;

namespace test_adamw {
constexpr adamw_options options{
    .learning_rate = 0.05, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-4, .weight_decay = 0.1};
}

TEST_CASE("adamw: by the published formula, typed and not, and of a table") {
    train_test::check(adamw(test_adamw::options), vectors::adamw, vectors::adamw_rows, "ApplyAdamW");
}

TEST_CASE("adamw: lazy, of a table only rows that have a gradient move and decay") {
    auto o = test_adamw::options;
    o.lazy = true;
    train_test::check(adamw(o), vectors::adamw, vectors::lazy_adamw_rows, "ApplyLazyAdamWRows");
}

TEST_CASE("adamw: without decay, it is adam") {
    auto o = test_adamw::options;
    o.weight_decay = 0;
    train_test::follow<double>(adamw(o), vectors::adam);
}

TEST_CASE("adamw: weights without a gradient decay by the rate times weight_decay") {
    const graph g;
    const graph_scope here(g);
    const variable<double> w("w", 2.);
    const operation train = adamw({.learning_rate = 0.5, .weight_decay = 0.25}).minimize(w * 0.);
    session s;
    s.run(global_variables_initializer());
    s.run(train);
    CHECK(s.run(w) == Approx(2 * (1 - 0.125)));
    train_test::check_fields(adamw_rule{{.beta1 = 0.5}, 0.004});
    train_test::check_fields(adamw_rule{{}, 0.5});
}
