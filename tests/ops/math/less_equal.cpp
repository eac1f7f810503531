// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/less_equal.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_less_equal {
constexpr auto f = [](const auto& a, const auto& b) { return a <= b; };
constexpr auto reference = [](auto a, auto b) { return a <= b; };
} // namespace test_less_equal

TEST_CASE("less_equal: values") {
    op_test::binary<float, double, int, std::uint8_t>("less_equal", test_less_equal::f, test_less_equal::reference);
}
