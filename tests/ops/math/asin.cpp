// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/asin.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_asin {
constexpr auto f = [](const auto& x) { return asin(x); };
} // namespace test_asin

TEST_CASE("asin: values, typed and untyped") {
    op_test::unary<float, double>(
        "asin", test_asin::f, [](auto x) { return static_cast<decltype(x)>(std::asin(static_cast<long double>(x))); },
        {.in = {{-1, 1}}});
}

TEST_CASE("asin: gradient, to second order") { op_test::gradients(test_asin::f, {{-0.8, 0.8}}, 2); }

TEST_CASE("asin: known by name") {
    const auto* op = find_op("Asin");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("asin: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "asin", test_asin::f, [](auto x) { return decltype(x)(std::asin(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_asin::f, {{0.5, 2}});
}

TEST_CASE("asin: of complex numbers on the cut, the gradient is that of the side that the value is of") {
    using C = std::complex<double>;
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<C> x("x");
    const auto [dx] = gradients(asin(x), x);
    const C at = s.run(dx, feed(x, C(3, 0))), beside = s.run(dx, feed(x, C(3, 1e-12)));
    CHECK(std::abs(at - C(0, -1 / std::sqrt(8.))) < 1e-15);
    CHECK(std::abs(at - beside) < 1e-12);
}
