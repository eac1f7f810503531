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

TEST_CASE("rsqrt: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "rsqrt", test_rsqrt::f, [](auto x) { return decltype(x)(1) / std::sqrt(x); }, {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_rsqrt::f, {{0.5, 2}});
}
