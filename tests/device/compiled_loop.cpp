// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/compiled_loop.hpp>

#include <array>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/less.hpp>
#include <rill/ops/math/mul.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_compiled_loop {

using below = structure<less_op, bool, leaf<int>, scalar_leaf<int>>;
using sum = structure<add_op, int, leaf<int>, leaf<int>>;

TEST_CASE("compiled_loop: parts change together, values from outside stay") {
    // while (a < 10) (a, b) = (a + b, b + c)
    int a = 1, b = 1;
    const int c = 2;
    const scalar_value limit(10);
    // the condition's leaf and scalar, then two leaves of each next value; null: the state
    const std::array<const void*, 6> operands{nullptr, limit.bytes.data(), nullptr, nullptr, nullptr, &c};
    const std::array<void*, 2> state{&a, &b};
    using namespace detail;
    const compiled_loop loop =
        &run_compiled_loop<loop_expression<below, 0>, loop_expression<sum, 0, 1>, loop_expression<sum, 1, -1>>;
    CHECK(loop({operands.data(), state.data(), nullptr, nullptr, 100}) == 3);
    CHECK(a == 10); // 1, 2, 5, 10
    CHECK(b == 7);
    a = b = 1;
    CHECK(loop({operands.data(), state.data(), nullptr, nullptr, 2}) == 2);
    CHECK(a == 5);
    CHECK(loop({operands.data(), state.data(), nullptr, nullptr, 0}) == 0);
    CHECK(a == 5);
}

TEST_CASE("compiled_loop: a key has the expressions and the state that they read") {
    const std::array<int, 3> parts{1, -1, 0};
    CHECK(detail::loop_key("e", parts) == "e[1..0.]");
    CHECK(detail::joined_loop_key({"a", "b"}) == "a;b");
}

} // namespace test_device_compiled_loop
