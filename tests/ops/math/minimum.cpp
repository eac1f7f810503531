// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/minimum.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_minimum {
constexpr auto f = [](const auto& a, const auto& b) { return minimum(a, b); };
constexpr auto reference = [](auto a, auto b) { return std::isnan(a) || a <= b ? a : b; };
} // namespace test_minimum

TEST_CASE("minimum: values") {
    op_test::binary<float, double, int, std::uint8_t>("minimum", test_minimum::f, test_minimum::reference);
}
TEST_CASE("minimum: gradient") { op_test::gradients(test_minimum::f, {{-2, 2}, {-1.9, 2}}, 1); }
