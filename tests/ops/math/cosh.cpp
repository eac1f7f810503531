// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cosh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_cosh {
constexpr auto f = [](const auto& x) { return cosh(x); };
} // namespace test_cosh

TEST_CASE("cosh: values, typed and untyped") {
    op_test::unary<float, double>(
        "cosh", test_cosh::f, [](auto x) { return static_cast<decltype(x)>(std::cosh(static_cast<long double>(x))); });
}

TEST_CASE("cosh: gradient, to second order") { op_test::gradients(test_cosh::f, {{-2, 2}}, 2); }

TEST_CASE("cosh: known by name") {
    const auto* op = find_op("Cosh");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("cosh: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "cosh", test_cosh::f, [](auto x) { return decltype(x)(std::cosh(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_cosh::f, {{0.3, 1}});
}
