// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/check_numerics.hpp>

#include <rill/ops/math/div.hpp>
#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_check_numerics {

TEST_CASE("check_numerics: values and gradient, to second order") {
    op_test::node<double, 2>([](const auto& x) { return check_numerics(x * x); },
                             [](const auto& x) { return xt::xarray<double>(x * x); }, {{3, 4}});
    op_test::node<float, 1>([](const auto& x) { return check_numerics(x); }, [](const auto& x) { return x; }, {{0}});
}

TEST_CASE("check_numerics: names the node, the place and what it was told, and variables stay as they were") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 2> x("x");
    variable<float, 2, 2> v("v", {{0.f, 0.f}, {0.f, 0.f}});
    s.run(global_variables_initializer());
    const tensor y(check_numerics(1.f / x, "after the division"), "quotient");
    const auto write = v.assign(y);
    const xt::xtensor<float, 2> zero{{1, 2}, {0, 4}}, nan{{1, NAN}, {1, 1}};
    CHECK_THROWS_AS(s.run(y, feed(x, zero)), invalid_argument);
    CHECK_THROWS_WITH(s.run(write, feed(x, zero)),
                      contains("an infinity at [1, 0]: after the division") && contains("check_numerics"));
    CHECK_THROWS_WITH(s.run(y, feed(x, nan)), contains("a NaN at [0, 1]"));
    CHECK(s.run(v)(0, 0) == 0.f);
    CHECK(s.run(y, feed(x, xt::xtensor<float, 2>{{1, 2}, {4, 8}}))(1, 1) == 0.125f);
}

TEST_CASE("check_numerics: its gradient is checked too") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 2> x("x");
    const auto [dx] = gradients(reduce_sum(check_numerics(identity(x), "here") * INFINITY), x);
    CHECK_THROWS_WITH(s.run(dx, feed(x, {1.f, 2.f})), contains("an infinity at [0]: the gradient, here"));
}

TEST_CASE("check_numerics: made by name, its fields read back") {
    const op_ptr made = make_op(check_numerics_op{"text"});
    CHECK(make_op("CheckNumerics", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_check_numerics
