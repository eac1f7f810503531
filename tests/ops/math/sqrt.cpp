// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/sqrt.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_sqrt {
constexpr auto f = [](const auto& x) { return sqrt(x); };
} // namespace test_sqrt

TEST_CASE("sqrt: values") {
    op_test::unary<float, double>("sqrt", test_sqrt::f, [](auto x) { return std::sqrt(x); });
}
TEST_CASE("sqrt: gradient") { op_test::gradients(test_sqrt::f, {{0.4, 3}}); }
TEST_CASE("sqrt: complex numbers") {
    op_test::unary<std::complex<float>, std::complex<double>>("sqrt", test_sqrt::f, [](auto x) { return std::sqrt(x); },
                                                              {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_sqrt::f, {{0.5, 2}});
}
