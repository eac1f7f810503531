// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/cosh.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_cosh {
constexpr auto f = [](const auto& x) { return cosh(x); };
} // namespace test_cosh

TEST_CASE("cosh: values, typed and untyped") {
    op_test::unary<float, double>(
        "cosh", test_cosh::f, [](auto x) { return static_cast<decltype(x)>(std::cosh(static_cast<long double>(x))); });
}

TEST_CASE("cosh: gradient, to second order") { op_test::gradients(test_cosh::f, {{-2, 2}}, 2); }

TEST_CASE("cosh: known by name") {
    const auto* op = find_op("Cosh");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
