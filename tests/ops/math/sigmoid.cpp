// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/sigmoid.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_sigmoid {
constexpr auto f = [](const auto& x) { return sigmoid(x); };
} // namespace test_sigmoid

TEST_CASE("sigmoid: values") {
    op_test::unary<float, double>("sigmoid", test_sigmoid::f, [](auto x) { return 1 / (1 + std::exp(-x)); });
}
TEST_CASE("sigmoid: gradient") { op_test::gradients(test_sigmoid::f, {{-2, 2}}); }

TEST_CASE("sigmoid: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "sigmoid", test_sigmoid::f, [](auto x) { return decltype(x)(1) / (decltype(x)(1) + std::exp(-x)); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_sigmoid::f, {{0.5, 2}});
}
