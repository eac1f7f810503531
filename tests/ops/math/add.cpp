// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/add.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_add {
constexpr auto f = [](const auto& a, const auto& b) { return a + b; };
constexpr auto reference = [](auto a, auto b) { return a + b; };
} // namespace test_add

TEST_CASE("add: values") {
    op_test::binary<float, double, int, std::int64_t, std::complex<float>, std::complex<double>>("add", test_add::f,
                                                                                                 test_add::reference);
}
TEST_CASE("add: gradient") { op_test::gradients(test_add::f, {{-2, 2}, {-2, 2}}, 2); }
TEST_CASE("add: gradient of complex numbers") { op_test::complex_gradients(test_add::f, {{-2, 2}, {-2, 2}}); }
