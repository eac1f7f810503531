// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reciprocal.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_reciprocal {
constexpr auto f = [](const auto& x) { return reciprocal(x); };
} // namespace test_reciprocal

TEST_CASE("reciprocal: values") {
    op_test::unary<float, double, std::complex<float>, std::complex<double>>("reciprocal", test_reciprocal::f,
                                                                             [](auto x) { return decltype(x)(1) / x; });
}
TEST_CASE("reciprocal: gradient") { op_test::gradients(test_reciprocal::f, {{0.5, 3}}); }
TEST_CASE("reciprocal: gradient of complex numbers") { op_test::complex_gradients(test_reciprocal::f, {{0.5, 2}}); }
