// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/digamma.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_digamma {
constexpr auto f = [](const auto& x) { return digamma(x); };
} // namespace test_digamma

TEST_CASE("digamma: values, typed and untyped") {
    op_test::unary<float, double>(
        "digamma", test_digamma::f,
        [](auto x) {
            // the slope of lgamma
            const auto f = [x](long double h) { return std::lgamma(static_cast<long double>(x) + h); };
            const long double h = 2e-4L;
            return static_cast<decltype(x)>((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
        },
        {.in = {{2.5, 9}}, .ulps = 64, .special = false});
}

TEST_CASE("digamma: gradient, to second order") {
    op_test::gradients(test_digamma::f, {{0.5, 4}}, 2);
    op_test::gradients(test_digamma::f, {{-1.8, -1.2}}, 2);
}

TEST_CASE("digamma: known values") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> x("x");
    const auto at = [&](double v) { return s.run(test_digamma::f(x), feed(x, v)); };
    CHECK(at(1.0) == Approx(-0.577215664901532861).epsilon(1e-14));
    CHECK(at(0.5) == Approx(-1.96351002602142348).epsilon(1e-14));
    CHECK(at(0.25) == Approx(-4.22745353337626541).epsilon(1e-14));
    CHECK(at(1e-5) == Approx(-100000.577199215681).epsilon(1e-14));
    CHECK(at(3.0) == Approx(0.922784335098467139).epsilon(1e-14));
    CHECK(at(9.99) == Approx(2.2507003728312011).epsilon(1e-14));
    CHECK(at(10.0) == Approx(2.25175258906672111).epsilon(1e-14));
    CHECK(at(1e8) == Approx(18.4206807389523655).epsilon(1e-14));
    CHECK(at(-0.5) == Approx(0.0364899739785765206).epsilon(1e-14));
    CHECK(at(-1e-5) == Approx(99999.4227678856376).epsilon(1e-14));
    CHECK(at(-7.75) == Approx(-1.03076883283093151).epsilon(1e-14));
    CHECK(at(-1000.25) == Approx(10.0500976930667059).epsilon(1e-14));
    CHECK(std::isnan(at(0.0)));
    CHECK(std::isnan(at(-2.0)));
    CHECK(at(std::numeric_limits<double>::infinity()) == std::numeric_limits<double>::infinity());
    CHECK(std::isnan(at(-std::numeric_limits<double>::infinity())));
    CHECK(std::isnan(at(std::nan(""))));
}

TEST_CASE("digamma: known by name") {
    const auto* op = find_op("Digamma");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
