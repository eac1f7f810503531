// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/selu.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_selu {
constexpr auto f = [](const auto& x) { return selu(x); };
} // namespace test_selu

TEST_CASE("selu: values, typed and untyped") {
    op_test::unary<float, double>("selu", test_selu::f,
                                  [](auto x) {
                                      using T = decltype(x);
                                      return T(1.0507009873554805) *
                                             (x < 0 ? T(1.6732632423543772) * std::expm1(x) : x);
                                  },
                                  {.ulps = 8});
}

TEST_CASE("selu: gradient, to second order") {
    op_test::gradients(test_selu::f, {{0.1, 2}}, 2);
    op_test::gradients(test_selu::f, {{-2, -0.1}}, 2);
}

TEST_CASE("selu: the gradient at 0 is the scale") {
    placeholder<double> x("x");
    const auto [d] = gradients(selu(x), x);
    CHECK(session().run(d, feed(x, 0.0)) == Approx(1.0507009873554805));
}

TEST_CASE("selu: known by name") {
    const auto* op = find_op("Selu");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
