// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cos.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_cos {
constexpr auto f = [](const auto& x) { return cos(x); };
} // namespace test_cos

TEST_CASE("cos: values") {
    op_test::unary<float, double>("cos", test_cos::f, [](auto x) { return std::cos(x); });
}
TEST_CASE("cos: gradient") { op_test::gradients(test_cos::f, {{-2, 2}}); }

TEST_CASE("cos: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "cos", test_cos::f, [](auto x) { return decltype(x)(std::cos(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_cos::f, {{0.3, 1}});
}
