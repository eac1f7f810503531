// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/elu.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_elu {
constexpr auto f = [](const auto& x) { return elu(x); };
} // namespace test_elu

TEST_CASE("elu: values, typed and untyped") {
    op_test::unary<float, double>("elu", test_elu::f, [](auto x) { return x < 0 ? std::expm1(x) : x; });
}

TEST_CASE("elu: gradient, to second order") {
    op_test::gradients(test_elu::f, {{0.1, 2}}, 2);
    op_test::gradients(test_elu::f, {{-2, -0.1}}, 2);
}

TEST_CASE("elu: the gradient at 0 is 1") {
    placeholder<float> x("x");
    const auto [d] = gradients(elu(x), x);
    CHECK(session().run(d, feed(x, 0.f)) == 1);
}

TEST_CASE("elu: known by name") {
    const auto* op = find_op("Elu");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
