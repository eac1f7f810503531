// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/pow.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_pow {
constexpr auto f = [](const auto& a, const auto& b) { return pow(a, b); };
constexpr auto reference = [](auto a, auto b) { return std::pow(a, b); };
} // namespace test_pow

TEST_CASE("pow: values") { op_test::binary<float, double>("pow", test_pow::f, test_pow::reference); }
TEST_CASE("pow: gradient") { op_test::gradients(test_pow::f, {{0.5, 2}, {-2, 2}}); }
