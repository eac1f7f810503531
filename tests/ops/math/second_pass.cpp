// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/second_pass.hpp>

#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_max.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("second_pass: the argument's own gradient follows, also where operands stretch") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, dyn> x("x");
    placeholder<double, dyn> y("y");
    const auto at = op_test::point_array<double>({-1, 1}, {3, 4}), row = op_test::point_array<double>({-1, 1}, {4}, 1);
    op_test::gradient_check{s, {x, y}, {at, row}}.check(tensor(reduce_max<0>(exp(x) * y)), 2);
}
