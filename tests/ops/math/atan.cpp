// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/atan.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_atan {
constexpr auto f = [](const auto& x) { return atan(x); };
} // namespace test_atan

TEST_CASE("atan: values, typed and untyped") {
    op_test::unary<float, double>(
        "atan", test_atan::f, [](auto x) { return static_cast<decltype(x)>(std::atan(static_cast<long double>(x))); });
}

TEST_CASE("atan: gradient, to second order") { op_test::gradients(test_atan::f, {{-2, 2}}, 2); }

TEST_CASE("atan: known by name") {
    const auto* op = find_op("Atan");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("atan: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "atan", test_atan::f, [](auto x) { return decltype(x)(std::atan(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_atan::f, {{0.5, 2}});
}
