// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/silu.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_silu {
constexpr auto f = [](const auto& x) { return silu(x); };
} // namespace test_silu

TEST_CASE("silu: values, typed and untyped") {
    const auto reference = [](auto x) { // as precise as the smallest numbers of x's type want it
        const long double v = x;
        return static_cast<decltype(x)>(v / (1 + std::exp(-v)));
    };
    op_test::unary<float, double>("silu", test_silu::f, reference);
}

TEST_CASE("silu: gradient, to second order") { op_test::gradients(test_silu::f, {{-2, 2}}, 2); }

TEST_CASE("silu: where e^x is too small for a number, the product is not") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn> x("x");
    const std::vector<float> at{-89, -90, -92, -88, -87.5, -89, -90, -91, -100};
    const auto y = s.run(silu(x), feed(x, at));
    const auto [d] = gradients(silu(x), x);
    const auto slopes = s.run(d, feed(x, at));
    for (std::size_t i = 0; i < at.size(); ++i) {
        const double v = at[i], e = std::exp(v);
        CHECK(std::abs(y(i) - v * e) <= 2e-6 * -v * e + 3e-45);
        CHECK(std::abs(slopes(i) - (1 + v) * e) <= 2e-6 * -v * e + 3e-45);
    }
    placeholder<float> one("one");
    CHECK(s.run(silu(one), feed(one, -89.f)) == Approx(-89 * std::exp(-89.)));
}

TEST_CASE("silu: by TensorFlow's name") {
    placeholder<float> x("x");
    const session s;
    CHECK(s.run(swish(x), feed(x, 1.5f)) == s.run(silu(x), feed(x, 1.5f)));
}

TEST_CASE("silu: known by name") {
    const auto* op = find_op("Silu");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
