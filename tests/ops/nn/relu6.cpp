// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/relu6.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_relu6 {
constexpr auto f = [](const auto& x) { return relu6(x); };
} // namespace test_relu6

TEST_CASE("relu6: values, typed and untyped") {
    op_test::unary<float, double>(
        "relu6", test_relu6::f,
        [](auto x) { return std::isnan(x) ? x : std::min(std::max(x, decltype(x)(0)), decltype(x)(6)); },
        {.in = {{-3, 9}}});
}

TEST_CASE("relu6: gradient, to second order") {
    op_test::gradients(test_relu6::f, {{0.1, 5.9}}, 2);
    op_test::gradients(test_relu6::f, {{-2, -0.1}}, 2);
    op_test::gradients(test_relu6::f, {{6.1, 8}}, 2);
}

TEST_CASE("relu6: integers, and the gradient at its kinks") {
    op_test::unary<int, std::int64_t>("relu6", test_relu6::f, [](auto x) {
        return x < 0 ? decltype(x)(0) : x > 6 ? decltype(x)(6) : x;
    });
    placeholder<float, 4> x("x");
    const auto [d] = gradients(relu6(x), x);
    CHECK(op_test::list(session().run(d, feed(x, {0.f, 6.f, 3.f, std::nanf("")}))) == std::vector<float>{0, 0, 1, 0});
}

TEST_CASE("relu6: known by name") {
    const auto* op = find_op("Relu6");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::boolean));
}
