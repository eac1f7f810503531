// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/logical_xor.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_logical_xor {
constexpr auto f = [](const auto& a, const auto& b) { return logical_xor(a, b); };
} // namespace test_logical_xor

TEST_CASE("logical_xor: values, typed and untyped") {
    op_test::binary<bool>("logical_xor", test_logical_xor::f, [](auto a, auto b) { return a != b; });
}

TEST_CASE("logical_xor: known by name") {
    const auto* op = find_op("LogicalXor");
    REQUIRE(op);
    CHECK(op->operands == 2);
    CHECK(op->takes(dtype::boolean));
    CHECK_FALSE(op->takes(dtype::float32));
}
