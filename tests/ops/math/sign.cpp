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
