// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/is_nan.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_is_nan {
constexpr auto f = [](const auto& x) { return is_nan(x); };
} // namespace test_is_nan

TEST_CASE("is_nan: values, typed and untyped") {
    op_test::unary<float, double>("is_nan", test_is_nan::f, [](auto x) { return std::isnan(x); });
}

TEST_CASE("is_nan: of half numbers, and a bool tensor") {
    placeholder<half, 4> x("x");
    static_assert(std::is_same_v<value_type_of<decltype(is_nan(x))>, bool>);
    const float big = std::numeric_limits<float>::infinity();
    const auto got = session().run(is_nan(x), feed(x, {half(1.f), half(big), half(-big), half(std::nanf(""))}));
    for (std::size_t i = 0; i < 4; ++i) CHECK(got(i) == std::isnan(std::array{1.f, big, -big, std::nanf("")}[i]));
}

TEST_CASE("is_nan: known by name") {
    const auto* op = find_op("IsNan", dtype::boolean);
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
