// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/tan.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_tan {
constexpr auto f = [](const auto& x) { return tan(x); };
} // namespace test_tan

TEST_CASE("tan: values") {
    op_test::unary<float, double>("tan", test_tan::f, [](auto x) { return std::tan(x); });
}
TEST_CASE("tan: gradient") { op_test::gradients(test_tan::f, {{-1.2, 1.2}}); }

TEST_CASE("tan: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "tan", test_tan::f, [](auto x) { return decltype(x)(std::tan(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_tan::f, {{0.3, 1}});
}
