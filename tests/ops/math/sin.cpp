// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/sin.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_sin {
constexpr auto f = [](const auto& x) { return sin(x); };
} // namespace test_sin

TEST_CASE("sin: values") {
    op_test::unary<float, double>("sin", test_sin::f, [](auto x) { return std::sin(x); });
}
TEST_CASE("sin: gradient") { op_test::gradients(test_sin::f, {{-2, 2}}); }

TEST_CASE("sin: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "sin", test_sin::f, [](auto x) { return decltype(x)(std::sin(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_sin::f, {{0.3, 1}});
}
