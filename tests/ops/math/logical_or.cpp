// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/logical_or.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_logical_or {
constexpr auto f = [](const auto& a, const auto& b) { return logical_or(a, b); };
constexpr auto reference = [](auto a, auto b) { return a || b; };
} // namespace test_logical_or

TEST_CASE("logical_or: values") { op_test::binary<bool>("logical_or", test_logical_or::f, test_logical_or::reference); }
