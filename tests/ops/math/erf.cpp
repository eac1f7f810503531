// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/erf.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_erf {
constexpr auto f = [](const auto& x) { return erf(x); };
} // namespace test_erf

TEST_CASE("erf: values, typed and untyped") {
    op_test::unary<float, double>(
        "erf", test_erf::f, [](auto x) { return static_cast<decltype(x)>(std::erf(static_cast<long double>(x))); });
}

TEST_CASE("erf: gradient, to second order") { op_test::gradients(test_erf::f, {{-2, 2}}, 2); }

TEST_CASE("erf: known by name") {
    const auto* op = find_op("Erf");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
