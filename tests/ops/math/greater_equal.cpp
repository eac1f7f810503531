// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/greater_equal.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_greater_equal {
constexpr auto f = [](const auto& a, const auto& b) { return a >= b; };
constexpr auto reference = [](auto a, auto b) { return a >= b; };
} // namespace test_greater_equal

TEST_CASE("greater_equal: values") {
    op_test::binary<float, double, int, std::uint8_t>("greater_equal", test_greater_equal::f,
                                                      test_greater_equal::reference);
}
