// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/mod.hpp>

#include "ops/math/quotient_test.hpp"

using namespace rill;

namespace test_mod {
constexpr auto f = [](const auto& a, const auto& b) { return mod(a, b); };
} // namespace test_mod

TEST_CASE("mod: values, typed and untyped") {
    op_test::binary<float, double>("floor_mod", test_mod::f, [](auto a, auto b) {
        const long double r = std::fmod(static_cast<long double>(a), static_cast<long double>(b));
        return static_cast<decltype(a)>(r != 0 && (r < 0) != (b < 0) ? r + static_cast<long double>(b) : r);
    });
}

TEST_CASE("mod: gradient, to second order") {
    op_test::gradients(test_mod::f, {{2.2, 2.8}, {0.95, 1.05}}, 2);
    op_test::gradients(test_mod::f, {{-2.8, -2.2}, {0.95, 1.05}}, 2);
    op_test::gradients(test_mod::f, {{2.2, 2.8}, {-1.05, -0.95}}, 2);
}

TEST_CASE("mod: integers") {
    constexpr auto reference = [](auto a, auto b) { // of the sign of b
        return static_cast<decltype(a)>((a % b + b) % b);
    };
    op_test::binary<int, std::int64_t, std::int8_t>("floor_mod", test_mod::f, reference, {.in = {{-100, 100}, {1, 9}}});
    op_test::binary<int, std::int64_t, std::int8_t>("floor_mod", test_mod::f, reference,
                                                    {.in = {{-100, 100}, {-9, 0}}});
    op_test::binary<std::uint8_t>("floor_mod", test_mod::f, reference, {.in = {{0, 200}, {1, 9}}});
}

TEST_CASE("mod: integers by zero are refused, and the session goes on") { quotient_test::by_zero(test_mod::f, 0, 0); }

TEST_CASE("mod: known by name") {
    const auto* op = find_op("FloorMod");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::complex64));
}
