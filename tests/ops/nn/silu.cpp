// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/silu.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_silu {
constexpr auto f = [](const auto& x) { return silu(x); };
} // namespace test_silu

TEST_CASE("silu: values, typed and untyped") {
    op_test::unary<float, double>("silu", test_silu::f, [](auto x) { return x / (1 + std::exp(-x)); });
}

TEST_CASE("silu: gradient, to second order") { op_test::gradients(test_silu::f, {{-2, 2}}, 2); }

TEST_CASE("silu: by TensorFlow's name") {
    placeholder<float> x("x");
    const session s;
    CHECK(s.run(swish(x), feed(x, 1.5f)) == s.run(silu(x), feed(x, 1.5f)));
}

TEST_CASE("silu: known by name") {
    const auto* op = find_op("Silu");
    REQUIRE(op);
    CHECK(op->operands == 1);
    CHECK(op->takes(dtype::half));
    CHECK_FALSE(op->takes(dtype::int32));
}
