// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/exp.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_exp {
constexpr auto f = [](const auto& x) { return exp(x); };
} // namespace test_exp

TEST_CASE("exp: values") {
    op_test::unary<float, double>("exp", test_exp::f, [](auto x) { return std::exp(x); });
}
TEST_CASE("exp: gradient") { op_test::gradients(test_exp::f, {{-2, 2}}); }
TEST_CASE("exp: complex numbers") {
    op_test::unary<std::complex<float>, std::complex<double>>("exp", test_exp::f, [](auto x) { return std::exp(x); },
                                                              {.in = {{-2, 2}}, .ulps = 16});
    op_test::complex_gradients(test_exp::f, {{-1, 1}}, 3);
}
