// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/logical_and.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_logical_and {
constexpr auto f = [](const auto& a, const auto& b) { return logical_and(a, b); };
constexpr auto reference = [](auto a, auto b) { return a && b; };
} // namespace test_logical_and

TEST_CASE("logical_and: values") {
    op_test::binary<bool>("logical_and", test_logical_and::f, test_logical_and::reference);
}
