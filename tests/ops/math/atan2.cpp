// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/atan2.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_atan2 {
constexpr auto f = [](const auto& a, const auto& b) { return atan2(a, b); };
} // namespace test_atan2

TEST_CASE("atan2: values, typed and untyped") {
    op_test::binary<float, double>("atan2", test_atan2::f, [](auto a, auto b) {
        return static_cast<decltype(a)>(std::atan2(static_cast<long double>(a), static_cast<long double>(b)));
    });
}

TEST_CASE("atan2: gradient, to second order") {
    op_test::gradients(test_atan2::f, {{-2, 2}, {0.5, 2}}, 2);
    op_test::gradients(test_atan2::f, {{0.5, 2}, {-2, -0.5}}, 2);
}

TEST_CASE("atan2: known by name") {
    const auto* op = find_op("Atan2");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
