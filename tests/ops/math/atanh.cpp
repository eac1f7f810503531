// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/atanh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_atanh {
constexpr auto f = [](const auto& x) { return atanh(x); };
} // namespace test_atanh

TEST_CASE("atanh: values, typed and untyped") {
    op_test::unary<float, double>(
        "atanh", test_atanh::f,
        [](auto x) { return static_cast<decltype(x)>(std::atanh(static_cast<long double>(x))); }, {.in = {{-1, 1}}});
}

TEST_CASE("atanh: gradient, to second order") { op_test::gradients(test_atanh::f, {{-0.8, 0.8}}, 2); }

TEST_CASE("atanh: known by name") {
    const auto* op = find_op("Atanh");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("atanh: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "atanh", test_atanh::f, [](auto x) { return decltype(x)(std::atanh(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_atanh::f, {{0.5, 2}});
}
