// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/sign.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_sign {
constexpr auto f = [](const auto& x) { return sign(x); };
} // namespace test_sign

TEST_CASE("sign: values") {
    op_test::unary<float, double, int>("sign", test_sign::f, [](auto x) {
        return x > 0 ? decltype(x)(1) : x < 0 ? decltype(x)(-1) : x;
    });
}
TEST_CASE("sign: gradient") { op_test::gradients(test_sign::f, {{0.1, 2}}, 1); }

TEST_CASE("sign: the gradient is 0 also where an infinite one comes from above") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x"), above("above");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto [d] = gradients(sign(x) * above, x);
    const auto [of_rest] = gradients(sign(x) * above * x, x);
    const std::vector<double> at{0.5, -1.5, infinity};
    const auto zeros = s.run(d, feed(x, at), feed(above, {infinity, std::nan(""), 1.0}));
    CHECK(std::vector<double>(zeros.begin(), zeros.end()) == std::vector<double>(3));
    CHECK(s.run(of_rest, feed(x, at), feed(above, {2.0, 2.0, 2.0}))(1) == 2 * s.run(sign(x), feed(x, at))(1));
    CHECK(s.run(derivative(sign(x), x), feed(x, at))(0) == 0);
}
