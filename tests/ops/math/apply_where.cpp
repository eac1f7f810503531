// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/apply_where.hpp>

#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sqrt.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("apply_where: the side that is not taken leaves the gradient alone, which select does not") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x");
    const std::vector<double> at{4, 0, -1};
    const auto root = [](const auto& v) { return sqrt(v); };
    const auto y = apply_where(x > 0, x, root, x);
    CHECK(op_test::list(s.run(y, feed(x, at))) == std::vector<double>{2, 0, -1});
    const auto [d] = gradients(y, x);
    const auto [d2] = gradients(d, x);
    CHECK(op_test::list(s.run(d, feed(x, at))) == std::vector<double>{0.25, 1, 1});
    CHECK(op_test::list(s.run(d2, feed(x, at))) == std::vector<double>{-0.03125, 0, 0});
    const auto [plain] = gradients(select(x > 0, sqrt(x), x), x);
    CHECK(std::isnan(s.run(plain, feed(x, at))(1)));

    const any_tensor any = x; // types known at run time, a number on the other side, another safe operand
    const any_tensor far(apply_where(any < 2.5, any, [](const auto& v) { return log1p(v * -0.4); }, 0., 0.));
    const any_tensor df = gradients(far, any)[0];
    const auto found = s.run(df, feed(x, std::vector<double>{0, 2.5, 3}));
    CHECK(found.elements<double>()[0] == Approx(-0.4));
    CHECK(found.elements<double>()[1] == 0);
    CHECK(found.elements<double>()[2] == 0);
}
