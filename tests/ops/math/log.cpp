// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/log.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_log {
constexpr auto f = [](const auto& x) { return log(x); };
} // namespace test_log

TEST_CASE("log: values") {
    op_test::unary<float, double>("log", test_log::f, [](auto x) { return std::log(x); });
}
TEST_CASE("log: gradient") { op_test::gradients(test_log::f, {{0.4, 3}}); }
TEST_CASE("log: complex numbers") {
    op_test::unary<std::complex<float>, std::complex<double>>("log", test_log::f, [](auto x) { return std::log(x); },
                                                              {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_log::f, {{0.5, 2}});
}
