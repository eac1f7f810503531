// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/neg.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_neg {
constexpr auto f = [](const auto& x) { return -x; };
} // namespace test_neg

TEST_CASE("neg: values") {
    op_test::unary<float, double, int, std::complex<float>, std::complex<double>>("neg", test_neg::f,
                                                                                  [](auto x) { return -x; });
}
TEST_CASE("neg: gradient") { op_test::gradients(test_neg::f, {{-2, 2}}, 2); }
TEST_CASE("neg: gradient of complex numbers") { op_test::complex_gradients(test_neg::f, {{-2, 2}}); }
