// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/equal.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_equal {
constexpr auto f = [](const auto& a, const auto& b) { return equal(a, b); };
constexpr auto reference = [](auto a, auto b) { return a == b; };
} // namespace test_equal

TEST_CASE("equal: values") {
    op_test::binary<float, double, int, bool, std::complex<double>>("equal", test_equal::f, test_equal::reference);
}
