// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/log1p.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_log1p {
constexpr auto f = [](const auto& x) { return log1p(x); };
} // namespace test_log1p

TEST_CASE("log1p: values") {
    op_test::unary<float, double>("log1p", test_log1p::f, [](auto x) { return std::log1p(x); });
}
TEST_CASE("log1p: gradient") { op_test::gradients(test_log1p::f, {{-0.5, 3}}); }
