// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/asinh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_asinh {
constexpr auto f = [](const auto& x) { return asinh(x); };
} // namespace test_asinh

TEST_CASE("asinh: values, typed and untyped") {
    op_test::unary<float, double>("asinh", test_asinh::f, [](auto x) {
        return static_cast<decltype(x)>(std::asinh(static_cast<long double>(x)));
    });
}

TEST_CASE("asinh: gradient, to second order") { op_test::gradients(test_asinh::f, {{-2, 2}}, 2); }

TEST_CASE("asinh: known by name") {
    const auto* op = find_op("Asinh");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}

TEST_CASE("asinh: complex numbers, and their gradients") {
    op_test::unary<std::complex<float>, std::complex<double>>(
        "asinh", test_asinh::f, [](auto x) { return decltype(x)(std::asinh(std::complex<long double>(x))); },
        {.in = {{0.5, 2}}, .ulps = 16});
    op_test::complex_gradients(test_asinh::f, {{0.5, 2}});
}

TEST_CASE("asinh: the gradient of half where squares overflow") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<half, dyn> x("x");
    const auto [dx] = gradients(asinh(x), x);
    const auto found =
        op_test::run(s, dx, {x}, {op_test::make_array<half>({3}, {half(0.f), half(300.f), half(-65504.f)})});
    CHECK(op_test::difference<half>(found, {3}, {half(1.f), half(1 / 300.f), half(1 / 65504.f)}, 1) == "");
}
