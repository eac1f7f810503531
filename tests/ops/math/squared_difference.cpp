// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/squared_difference.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_squared_difference {
constexpr auto f = [](const auto& a, const auto& b) { return squared_difference(a, b); };
} // namespace test_squared_difference

TEST_CASE("squared_difference: values, typed and untyped") {
    op_test::binary<float, double, int, std::uint8_t, std::complex<double>>(
        "squared_difference", test_squared_difference::f, [](auto a, auto b) {
            if constexpr (is_complex<decltype(a)>)
                return decltype(a)(std::norm(a - b));
            else
                return static_cast<decltype(a)>((a - b) * (a - b));
        });
}

TEST_CASE("squared_difference: gradient, to second order") {
    op_test::gradients(test_squared_difference::f, {{-2, 2}, {-1, 3}}, 2);
}

TEST_CASE("squared_difference: gradient of complex numbers") {
    op_test::complex_gradients(test_squared_difference::f, {{-2, 2}, {0.5, 2}});
}

TEST_CASE("squared_difference: known by name") {
    const auto* op = find_op("SquaredDifference");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::boolean));
}
