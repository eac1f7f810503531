// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/floor.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_floor {
constexpr auto f = [](const auto& x) { return floor(x); };
} // namespace test_floor

TEST_CASE("floor: values") {
    op_test::unary<float, double>("floor", test_floor::f, [](auto x) { return std::floor(x); });
}
TEST_CASE("floor: gradient") { op_test::gradients(test_floor::f, {{0.1, 0.9}}, 1); }

TEST_CASE("floor: the gradient is 0 also where an infinite one comes from above") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x"), above("above");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto [d] = gradients(floor(x) * above, x);
    const auto [of_rest] = gradients(floor(x) * above * x, x);
    const std::vector<double> at{0.5, -1.5, infinity};
    const auto zeros = s.run(d, feed(x, at), feed(above, {infinity, std::nan(""), 1.0}));
    CHECK(std::vector<double>(zeros.begin(), zeros.end()) == std::vector<double>(3));
    CHECK(s.run(of_rest, feed(x, at), feed(above, {2.0, 2.0, 2.0}))(1) == 2 * s.run(floor(x), feed(x, at))(1));
    CHECK(s.run(derivative(floor(x), x), feed(x, at))(0) == 0);
}
