// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/frozen_check.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/nn/dropout.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("frozen_check: a loss that stays at rate 0, and losses that do not") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float> rate("rate");
    const variable<float, 100> w("w", ones());
    const tensor<float> loss = reduce_sum(w * w), random = reduce_sum(dropout(w, 0.5f));
    const operation train = gradient_descent(rate).minimize(loss);
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(frozen_check(s, loss, train, {feed(rate, 0.f)}) == 100);
    CHECK_THROWS_WITH(frozen_check(s, random, train, {feed(rate, 0.f)}), contains("the loss") && contains("in step "));
    CHECK_THROWS_AS(frozen_check(s, loss, train, {feed(rate, 0.1f)}), failed_precondition);
}
