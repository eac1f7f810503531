// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/sinh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_sinh {
constexpr auto f = [](const auto& x) { return sinh(x); };
} // namespace test_sinh

TEST_CASE("sinh: values, typed and untyped") {
    op_test::unary<float, double>(
        "sinh", test_sinh::f, [](auto x) { return static_cast<decltype(x)>(std::sinh(static_cast<long double>(x))); });
}

TEST_CASE("sinh: gradient, to second order") { op_test::gradients(test_sinh::f, {{-2, 2}}, 2); }

TEST_CASE("sinh: known by name") {
    const auto* op = find_op("Sinh");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("sinh: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "sinh", test_sinh::f, [](auto x) { return decltype(x)(std::sinh(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_sinh::f, {{0.3, 1}});
}
