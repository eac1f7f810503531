// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/exp_below.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_exp_below {
constexpr auto f = [](const auto& x, const auto& most) { return apply<exp_below_op>(x, most); };
} // namespace test_exp_below

TEST_CASE("exp_below: values, typed and untyped") {
    op_test::binary<float, double>("exp_below", test_exp_below::f,
                                   [](auto x, auto most) { return x == most ? 1 : std::exp(x - most); });
}

TEST_CASE("exp_below: gradient, to second order") { op_test::gradients(test_exp_below::f, {{-2, 1}, {1, 2}}, 2); }

TEST_CASE("exp_below: known by name") {
    const auto* op = find_op("ExpBelow");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::float64));
    CHECK_FALSE(op->takes(dtype::int32));
}
