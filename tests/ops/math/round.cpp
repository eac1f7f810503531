// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/round.hpp>

#include "ops/harness.hpp"
#include "ops/math/step_test.hpp"

using namespace rill;

namespace test_round {
constexpr auto f = [](const auto& x) { return round(x); };
} // namespace test_round

TEST_CASE("round: values, typed and untyped") {
    op_test::unary<float, double>("round", test_round::f,
                                  [](auto x) { return std::isfinite(x) ? x - std::remainder(x, decltype(x)(1)) : x; });
}

TEST_CASE("round: gradient") { op_test::gradients(test_round::f, {{0.6, 1.4}}, 1); }

TEST_CASE("round: the gradient is 0 also where an infinite one comes from above") {
    step_test::gradient_is_zero(test_round::f);
}

TEST_CASE("round: halves go to the even side") {
    placeholder<float, 7> x("x");
    CHECK(op_test::list(session().run(test_round::f(x), feed(x, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 8388609.f}))) ==
          std::vector<float>{0, 2, 2, 0, -2, -2, 8388609});
}

TEST_CASE("round: integers stay as they are") {
    op_test::unary<int, std::int64_t, std::uint8_t>("round", test_round::f, [](auto x) { return x; });
}

TEST_CASE("round: known by name") {
    const auto* op = find_op("Round");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::boolean));
}
