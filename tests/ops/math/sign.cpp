// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/sign.hpp>

#include "ops/math/step_test.hpp"

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
    step_test::gradient_is_zero(test_sign::f);
}

TEST_CASE("sign: of complex numbers the direction, with a gradient of 0") {
    op_test::unary<std::complex<float>, std::complex<double>>("sign", test_sign::f,
                                                              [](auto x) { return x / std::abs(x); });
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<C> x("x");
    CHECK(s.run(sign(x), feed(x, C(0))) == C(0));
    const auto [dx] = gradients(sign(x), x);
    CHECK(s.run(dx, feed(x, C(3, 4))) == C(0));
}
