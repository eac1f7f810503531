// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/less.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_less {
constexpr auto f = [](const auto& a, const auto& b) { return a < b; };
constexpr auto reference = [](auto a, auto b) { return a < b; };
} // namespace test_less

TEST_CASE("less: values") {
    op_test::binary<float, double, int, std::uint8_t>("less", test_less::f, test_less::reference);
}
