// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/greater.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_greater {
constexpr auto f = [](const auto& a, const auto& b) { return a > b; };
constexpr auto reference = [](auto a, auto b) { return a > b; };
} // namespace test_greater

TEST_CASE("greater: values") {
    op_test::binary<float, double, int, std::uint8_t>("greater", test_greater::f, test_greater::reference);
}
