// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/floordiv.hpp>

#include "ops/math/quotient_test.hpp"

using namespace rill;

namespace test_floordiv {
constexpr auto f = [](const auto& a, const auto& b) { return floordiv(a, b); };
} // namespace test_floordiv

TEST_CASE("floordiv: values, typed and untyped") {
    op_test::binary<float, double>("floor_div", test_floordiv::f, [](auto a, auto b) { return std::floor(a / b); });
}

TEST_CASE("floordiv: gradient") { op_test::gradients(test_floordiv::f, {{2.2, 2.8}, {0.95, 1.05}}, 1); }

TEST_CASE("floordiv: integers") {
    constexpr auto reference = [](auto a, auto b) {
        return static_cast<decltype(a)>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
    };
    op_test::binary<int, std::int64_t, std::int8_t>("floor_div", test_floordiv::f, reference,
                                                    {.in = {{-100, 100}, {1, 9}}});
    op_test::binary<int, std::int64_t, std::int8_t>("floor_div", test_floordiv::f, reference,
                                                    {.in = {{-100, 100}, {-9, 0}}});
    op_test::binary<std::uint8_t>("floor_div", test_floordiv::f, reference, {.in = {{0, 200}, {1, 9}}});
}

TEST_CASE("floordiv: integers by zero are refused, and the session goes on") {
    quotient_test::by_zero(test_floordiv::f, 1, std::numeric_limits<int>::min());
}

TEST_CASE("floordiv: known by name") {
    const auto* op = find_op("FloorDiv");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::complex64));
}
