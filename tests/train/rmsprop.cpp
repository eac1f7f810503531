// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/rmsprop.hpp>

#include <cmath>
#include <vector>

#include <rill/train/initializers.hpp>

#include "train/harness.hpp"

using namespace rill;

namespace test_rmsprop {
rmsprop_options options(bool centered) {
    return {.learning_rate = 0.05, .decay = 0.8, .momentum = 0.5, .epsilon = 1e-3, .centered = centered};
}
} // namespace test_rmsprop

TEST_CASE("rmsprop: by the published formula, typed and not, and by rows") {
    train_test::check(rmsprop(test_rmsprop::options(false)), vectors::rmsprop, vectors::rmsprop_rows,
                      "ApplyRMSPropRows");
}

TEST_CASE("rmsprop: centered") {
    train_test::check(rmsprop(test_rmsprop::options(true)), vectors::centered_rmsprop, vectors::centered_rmsprop_rows,
                      "ApplyCenteredRMSPropRows");
}

TEST_CASE("rmsprop: a third slot only if it is centered, defaults and fields") {
    const auto slots = [](bool centered) {
        const graph g;
        const graph_scope here(g);
        const variable<double> w("w", 2.);
        rmsprop({.centered = centered}).minimize(w * w);
        return g.collection(collections::variables).size() - 1;
    };
    CHECK(slots(false) == 2);
    CHECK(slots(true) == 3);
    CHECK(rmsprop().options().decay == 0.9);
    CHECK(rmsprop(0.1).options().epsilon == 1e-10);
    train_test::check_fields(rmsprop_rule{.decay = 0.5});
    train_test::check_fields(rmsprop_rule{.momentum = 0.5});
    train_test::check_fields(centered_rmsprop_rule{{.epsilon = 0.5}});
}

TEST_CASE("rmsprop: a variance that rounds to less than 0 is taken for 0") {
    const graph g;
    const graph_scope here(g);
    variable<float, 64> w("w", zeros());
    placeholder<float, 64> slope("slope");
    const auto train = rmsprop({.learning_rate = 0.01, .centered = true}).minimize(reduce_sum(w * slope));
    session s;
    s.run(global_variables_initializer());
    std::vector<float> constant;
    for (int i = 0; i < 64; ++i) constant.push_back(3.f + 0.37f * static_cast<float>(i));
    const auto step = s.make_callable(train, slope);
    for (int i = 0; i < 500; ++i) step(constant);
    for (const float v : s.run(w)) CHECK(std::isfinite(v));
}
