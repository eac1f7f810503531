// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/expm1.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_expm1 {
constexpr auto f = [](const auto& x) { return expm1(x); };
} // namespace test_expm1

TEST_CASE("expm1: values") {
    op_test::unary<float, double>("expm1", test_expm1::f, [](auto x) { return std::expm1(x); });
}
TEST_CASE("expm1: gradient") { op_test::gradients(test_expm1::f, {{-2, 2}}); }
