// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/state/partitioned_variable.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variables.hpp>
#include <rill/session/session.hpp>
#include <rill/train/gradient_descent.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_state_partitioned_variable {

TEST_CASE("partitioned_variable: rows by id, trained where they lie") {
    for (const auto strategy : {partition_strategy::mod, partition_strategy::div}) {
        const graph g;
        const graph_scope here(g);
        const partitioned_variable<float, 7, 2> t("t", 1.f, {.shards = 3, .strategy = strategy});
        REQUIRE(t.shards().size() == 3);
        CHECK(t.shards()[0].name() == "t/part_0:0");
        CHECK(t.shards()[0].static_shape() == dims{3, 2});
        CHECK(t.shards()[2].static_shape() == dims{2, 2});
        const placeholder<int, dyn> ids("ids");
        const tensor<float, dyn, 2> rows = gather(t, ids);
        const auto weight = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
        const auto train = gradient_descent(1.f).minimize(reduce_sum(rows * weight));
        const session s;
        s.run(global_variables_initializer());
        s.run(train, feed(ids, {6, 1, 6})); // one of them twice
        CHECK((s.run(rows, feed(ids, {0, 1, 6})) == xt::xtensor<float, 2>{{1, 1}, {-2, -3}, {-5, -7}}));
        CHECK_THROWS_AS(s.run(rows, feed(ids, {0, 1, 7})), invalid_argument);
    }
}

TEST_CASE("partitioned_variable: a bad number of shards is refused, with the place") {
    const graph_scope here{graph()};
    CHECK_THROWS_WITH((partitioned_variable<float, 2, 2>("t", 0.f, {.shards = 3})),
                      contains("'t'") && contains("3 shards of 2 rows") && contains("partitioned_variable.cpp"));
    CHECK_THROWS_AS((partitioned_variable<float, 2, 2>("t", 0.f, {.shards = 0})), invalid_argument);
}

} // namespace test_ops_state_partitioned_variable
