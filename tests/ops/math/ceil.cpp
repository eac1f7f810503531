// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/ceil.hpp>

#include "ops/math/step_test.hpp"

using namespace rill;

namespace test_ceil {
constexpr auto f = [](const auto& x) { return ceil(x); };
} // namespace test_ceil

TEST_CASE("ceil: values") {
    op_test::unary<float, double>("ceil", test_ceil::f, [](auto x) { return std::ceil(x); });
}
TEST_CASE("ceil: gradient") { op_test::gradients(test_ceil::f, {{0.1, 0.9}}, 1); }

TEST_CASE("ceil: the gradient is 0 also where an infinite one comes from above") {
    step_test::gradient_is_zero(test_ceil::f);
}
