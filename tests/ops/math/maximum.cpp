// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/maximum.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_maximum {
constexpr auto f = [](const auto& a, const auto& b) { return maximum(a, b); };
constexpr auto reference = [](auto a, auto b) { return std::isnan(a) || a >= b ? a : b; };
} // namespace test_maximum

TEST_CASE("maximum: values") {
    op_test::binary<float, double, int, std::uint8_t>("maximum", test_maximum::f, test_maximum::reference);
}
TEST_CASE("maximum: gradient") { op_test::gradients(test_maximum::f, {{-2, 2}, {-1.9, 2}}, 1); }
