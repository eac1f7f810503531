// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/softplus.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_softplus {
constexpr auto f = [](const auto& x) { return softplus(x); };
} // namespace test_softplus

TEST_CASE("softplus: values, typed and untyped") {
    op_test::unary<float, double>("softplus", test_softplus::f, [](auto x) {
        return std::isnan(x) ? x : std::max(x, decltype(x)(0)) + std::log1p(std::exp(-std::abs(x)));
    });
}

TEST_CASE("softplus: gradient, to second order") { op_test::gradients(test_softplus::f, {{-2, 2}}, 2); }

TEST_CASE("softplus: known by name") {
    const auto* op = find_op("Softplus");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
