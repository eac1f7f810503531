// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/lgamma.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_lgamma {
constexpr auto f = [](const auto& x) { return lgamma(x); };
} // namespace test_lgamma

TEST_CASE("lgamma: values, typed and untyped") {
    op_test::unary<float, double>(
        "lgamma", test_lgamma::f,
        [](auto x) { return static_cast<decltype(x)>(std::lgamma(static_cast<long double>(x))); },
        {.in = {{2.5, 9}}, .ulps = 16});
}

TEST_CASE("lgamma: gradient, to second order") {
    op_test::gradients(test_lgamma::f, {{0.5, 4}}, 2);
    op_test::gradients(test_lgamma::f, {{-1.8, -1.2}}, 2);
}

TEST_CASE("lgamma: known values") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> x("x");
    const auto at = [&](double v) { return s.run(test_lgamma::f(x), feed(x, v)); };
    CHECK(at(1.0) == 0);
    CHECK(at(11.0) == Approx(15.1044125730755153).epsilon(1e-14));
    CHECK(at(0.5) == Approx(0.572364942924700087).epsilon(1e-14));
    CHECK(at(-1.5) == Approx(0.860047015376481015).epsilon(1e-14));
    CHECK(at(0.0) == std::numeric_limits<double>::infinity());
    CHECK(at(-3.0) == std::numeric_limits<double>::infinity());
}

TEST_CASE("lgamma: known by name") {
    const auto* op = find_op("Lgamma");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
