// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/square.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_square {
constexpr auto f = [](const auto& x) { return square(x); };
} // namespace test_square

TEST_CASE("square: values") {
    op_test::unary<float, double, int, std::complex<float>, std::complex<double>>("square", test_square::f,
                                                                                  [](auto x) { return x * x; });
}
TEST_CASE("square: gradient") { op_test::gradients(test_square::f, {{-2, 2}}); }
TEST_CASE("square: gradient of complex numbers") { op_test::complex_gradients(test_square::f, {{-2, 2}}, 3); }
