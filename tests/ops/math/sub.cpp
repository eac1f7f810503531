// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/sub.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_sub {
constexpr auto f = [](const auto& a, const auto& b) { return a - b; };
constexpr auto reference = [](auto a, auto b) { return a - b; };
} // namespace test_sub

TEST_CASE("sub: values") {
    op_test::binary<float, double, int, std::complex<float>, std::complex<double>>("sub", test_sub::f,
                                                                                   test_sub::reference);
}
TEST_CASE("sub: gradient") { op_test::gradients(test_sub::f, {{-2, 2}, {-2, 2}}, 2); }
TEST_CASE("sub: gradient of complex numbers") { op_test::complex_gradients(test_sub::f, {{-2, 2}, {-2, 2}}); }
