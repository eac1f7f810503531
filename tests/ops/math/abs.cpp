// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/abs.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_abs {
constexpr auto f = [](const auto& x) { return abs(x); };
} // namespace test_abs

TEST_CASE("abs: values") {
    op_test::unary<float, double, int>("abs", test_abs::f, [](auto x) { return std::abs(x); });
}
TEST_CASE("abs: gradient") { op_test::gradients(test_abs::f, {{0.1, 2}}, 2); }
TEST_CASE("abs: gradient below zero") { op_test::gradients(test_abs::f, {{-2, -0.1}}, 2); }
