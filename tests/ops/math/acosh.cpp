// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/acosh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_acosh {
constexpr auto f = [](const auto& x) { return acosh(x); };
} // namespace test_acosh

TEST_CASE("acosh: values, typed and untyped") {
    op_test::unary<float, double>(
        "acosh", test_acosh::f,
        [](auto x) { return static_cast<decltype(x)>(std::acosh(static_cast<long double>(x))); }, {.in = {{1, 6}}});
}

TEST_CASE("acosh: gradient, to second order") { op_test::gradients(test_acosh::f, {{1.2, 3}}, 2); }

TEST_CASE("acosh: no gradient below 1, as there is no value") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> x("x");
    const auto [d] = gradients(acosh(x), x);
    for (const double below : {0.5, -0.5, -1., -2., -1e300}) CHECK(std::isnan(s.run(d, feed(x, below))));
    CHECK(s.run(d, feed(x, 1.)) == std::numeric_limits<double>::infinity());
    CHECK(s.run(d, feed(x, 1e300)) == Approx(1e-300));
    CHECK(s.run(d, feed(x, 1 + 1e-12)) == Approx(1 / std::sqrt(2e-12)).epsilon(1e-3));
}

TEST_CASE("acosh: known by name") {
    const auto* op = find_op("Acosh");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("acosh: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "acosh", test_acosh::f, [](auto x) { return decltype(x)(std::acosh(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_acosh::f, {{0.5, 2}});
    // where the root of a product is not the product of the roots
    op_test::complex_gradients([](const auto& x) { return acosh(-x); }, {{0.5, 2}});
}
