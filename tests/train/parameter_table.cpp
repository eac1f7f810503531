// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/parameter_table.hpp>

#include <rill/ops/math/reduce_sum.hpp>
#include <rill/train/global_step.hpp>
#include <rill/train/gradient_descent.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("parameter_table: names, types, exact counts, bytes, and what is never trained") {
    const graph g;
    const graph_scope here(g);
    const variable<float, 3, 4> w("w", zeros());
    const variable<double, 5> lost("lost", zeros());
    const auto step = get_or_create_global_step();
    gradient_descent(0.1f).minimize(reduce_sum(w * w), step);
    const auto all = parameters_of(g);
    REQUIRE(all.size() == 3);
    CHECK(all[0].count == 12);
    CHECK(all[0].is_trained);
    CHECK(all[1].is_trainable);
    CHECK_FALSE(all[1].is_trained);
    CHECK_FALSE(all[2].is_trainable);
    CHECK(all[2].is_trained);
    const auto table = parameter_table(g);
    CHECK_THAT(table, contains("w            float32 [3, 4]") && contains("never trained") &&
                          contains("not trainable") &&
                          contains("trainable: 17 elements, others: 1, together 96 bytes"));
}
