// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/rsqrt.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_rsqrt {
constexpr auto f = [](const auto& x) { return rsqrt(x); };
} // namespace test_rsqrt

TEST_CASE("rsqrt: values") {
    op_test::unary<float, double>("rsqrt", test_rsqrt::f, [](auto x) { return 1 / std::sqrt(x); });
}
TEST_CASE("rsqrt: gradient") { op_test::gradients(test_rsqrt::f, {{0.4, 3}}); }
