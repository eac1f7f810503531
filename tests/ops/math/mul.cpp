// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_mul {
constexpr auto f = [](const auto& a, const auto& b) { return a * b; };
constexpr auto reference = [](auto a, auto b) { return a * b; };
} // namespace test_mul

TEST_CASE("mul: values") {
    op_test::binary<float, double, int, std::complex<float>, std::complex<double>>("mul", test_mul::f,
                                                                                   test_mul::reference);
}
TEST_CASE("mul: gradient") { op_test::gradients(test_mul::f, {{-2, 2}, {-2, 2}}); }
TEST_CASE("mul: gradient of complex numbers") { op_test::complex_gradients(test_mul::f, {{-2, 2}, {-2, 2}}); }
