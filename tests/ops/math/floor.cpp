// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/floor.hpp>

#include "ops/math/step_test.hpp"

using namespace rill;

namespace test_floor {
constexpr auto f = [](const auto& x) { return floor(x); };
} // namespace test_floor

TEST_CASE("floor: values") {
    op_test::unary<float, double>("floor", test_floor::f, [](auto x) { return std::floor(x); });
}
TEST_CASE("floor: gradient") { op_test::gradients(test_floor::f, {{0.1, 0.9}}, 1); }

TEST_CASE("floor: the gradient is 0 also where an infinite one comes from above") {
    step_test::gradient_is_zero(test_floor::f);
}
