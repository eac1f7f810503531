// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/tanh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_tanh {
constexpr auto f = [](const auto& x) { return tanh(x); };
} // namespace test_tanh

TEST_CASE("tanh: values") {
    op_test::unary<float, double>("tanh", test_tanh::f, [](auto x) { return std::tanh(x); });
}
TEST_CASE("tanh: gradient") { op_test::gradients(test_tanh::f, {{-2, 2}}); }

TEST_CASE("tanh: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "tanh", test_tanh::f, [](auto x) { return decltype(x)(std::tanh(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_tanh::f, {{0.3, 1}});
}
