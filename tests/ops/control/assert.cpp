// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/assert.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("assert: what holds passes, what does not ends the run with message and values") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn> x("x");
    const std::vector<std::pair<operation, std::vector<float>>> rows{
        // a check, and what fails it
        {assert_true(x > 0.f, {x}), {1, -3}}, {assert_equal(x, 1.f), {1, 2}},   {assert_less(x, 5.f), {1, 5}},
        {assert_less_equal(x, 5.f), {1, 6}},  {assert_greater(x, 0.f), {1, 0}}, {assert_greater_equal(x, 0.f), {1, -1}},
        {assert_positive(x), {1, 0}},         {assert_non_negative(x), {1, -1}}};
    for (const auto& [check, bad] : rows) {
        s.run(check, feed(x, std::vector<float>{1, 1}));
        CHECK_THROWS_AS(s.run(check, feed(x, bad)), invalid_argument);
    }
    CHECK_THROWS_WITH(s.run(rows[0].first, feed(x, std::vector<float>{1, -3})),
                      contains("the assertion does not hold: ") && contains("-3"));
    CHECK_THROWS_WITH(s.run(assert_less(x, 2.f, "too large"), feed(x, std::vector<float>{2.5f})),
                      contains("too large: ") && contains("2.5"));
    CHECK_THROWS_AS(assert_true(x), invalid_argument);
}

TEST_CASE("assert: shape, rank and type are refused when the graph is built, or by the run that knows them") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<float, dyn, dyn> x("x");
    const operation shape = assert_shape(x, {2, dyn}), rank = assert_rank(x, 2), type = assert_type(x, dtype::float32);
    const xt::xtensor<float, 2> fits{{1}, {2}}, other{{1}};
    for (const auto& check : {shape, rank, type}) s.run(check, feed(x, fits));
    CHECK_THROWS_WITH(s.run(shape, feed(x, other)), contains("the shape is [1, 1], not [2, ?]"));
    s.run(rank, feed(x, other));
    CHECK_THROWS_WITH(assert_rank(x, 3), contains("the shape is [?, ?], not [?, ?, ?]"));
    CHECK_THROWS_AS(assert_rank(x, -1), invalid_argument);
    CHECK_THROWS_WITH(assert_type(x, dtype::int32), contains("'x:0' is float32, not int32"));
}
