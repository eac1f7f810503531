// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/is_finite.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_is_finite {
constexpr auto f = [](const auto& x) { return is_finite(x); };
} // namespace test_is_finite

TEST_CASE("is_finite: values, typed and untyped") {
    op_test::unary<float, double>("is_finite", test_is_finite::f, [](auto x) { return std::isfinite(x); });
}

TEST_CASE("is_finite: of half numbers, and a bool tensor") {
    placeholder<half, 4> x("x");
    static_assert(std::is_same_v<value_type_of<decltype(is_finite(x))>, bool>);
    const float big = std::numeric_limits<float>::infinity();
    const auto got = session().run(is_finite(x), feed(x, {half(1.f), half(big), half(-big), half(std::nanf(""))}));
    for (std::size_t i = 0; i < 4; ++i) CHECK(got(i) == std::isfinite(std::array{1.f, big, -big, std::nanf("")}[i]));
}

TEST_CASE("is_finite: known by name") {
    const auto* op = find_op("IsFinite", dtype::boolean);
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
