// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/not_equal.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_not_equal {
constexpr auto f = [](const auto& a, const auto& b) { return not_equal(a, b); };
constexpr auto reference = [](auto a, auto b) { return a != b; };
} // namespace test_not_equal

TEST_CASE("not_equal: values") {
    op_test::binary<float, double, int, bool, std::complex<double>>("not_equal", test_not_equal::f,
                                                                    test_not_equal::reference);
}
