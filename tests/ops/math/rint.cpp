// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/rint.hpp>

#include "ops/harness.hpp"
#include "ops/math/step_test.hpp"

using namespace rill;

namespace test_rint {
constexpr auto f = [](const auto& x) { return rint(x); };
} // namespace test_rint

TEST_CASE("rint: values, typed and untyped") {
    op_test::unary<float, double>("rint", test_rint::f,
                                  [](auto x) { return std::isfinite(x) ? x - std::remainder(x, decltype(x)(1)) : x; });
}

TEST_CASE("rint: gradient") { op_test::gradients(test_rint::f, {{0.6, 1.4}}, 1); }

TEST_CASE("rint: the gradient is 0 also where an infinite one comes from above") {
    step_test::gradient_is_zero(test_rint::f);
}

TEST_CASE("rint: halves go to the even side") {
    placeholder<float, 7> x("x");
    CHECK(op_test::list(session().run(test_rint::f(x), feed(x, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 8388609.f}))) ==
          std::vector<float>{0, 2, 2, 0, -2, -2, 8388609});
}

TEST_CASE("rint: known by name") {
    const auto* op = find_op("Rint");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
