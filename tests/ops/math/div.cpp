// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/div.hpp>

#include "ops/math/quotient_test.hpp"

using namespace rill;

namespace test_div {
constexpr auto f = [](const auto& a, const auto& b) { return a / b; };
constexpr auto reference = [](auto a, auto b) { return static_cast<decltype(a)>(a / b); };
} // namespace test_div

TEST_CASE("div: values") {
    op_test::binary<float, double, std::complex<float>, std::complex<double>>("div", test_div::f, test_div::reference);
    op_test::binary<int, std::int64_t, std::uint8_t>("div", test_div::f, test_div::reference,
                                                     {.in = {{0, 100}, {1, 9}}});
}
TEST_CASE("div: gradient") { op_test::gradients(test_div::f, {{-2, 2}, {0.5, 2}}); }
TEST_CASE("div: gradient of complex numbers") { op_test::complex_gradients(test_div::f, {{-2, 2}, {0.5, 2}}); }

TEST_CASE("div: integers by zero are refused, and the session goes on") {
    quotient_test::by_zero(test_div::f, 1, std::numeric_limits<int>::min());
}
