// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/erfc.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_erfc {
constexpr auto f = [](const auto& x) { return erfc(x); };
} // namespace test_erfc

TEST_CASE("erfc: values, typed and untyped") {
    op_test::unary<float, double>(
        "erfc", test_erfc::f, [](auto x) { return static_cast<decltype(x)>(std::erfc(static_cast<long double>(x))); },
        {.ulps = 8});
}

TEST_CASE("erfc: gradient, to second order") { op_test::gradients(test_erfc::f, {{-2, 2}}, 2); }

TEST_CASE("erfc: known by name") {
    const auto* op = find_op("Erfc");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
