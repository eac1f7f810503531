// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/compiled_loop.hpp>

#include <array>
#include <atomic>

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
    const std::array<const void*, 2> own{nullptr, nullptr}, other{nullptr, &c};
    const std::array<scalar_value, 1> limit{scalar_value(10)};
    const std::array<compiled_loop_args::expression, 3> all{
        {{own.data(), limit.data()}, {own.data(), nullptr}, {other.data(), nullptr}}};
    const std::array<void*, 2> state{&a, &b};
    using namespace detail;
    const compiled_loop loop =
        &run_compiled_loop<loop_expression<below, 0>, loop_expression<sum, 0, 1>, loop_expression<sum, 1, -1>>;
    loop({all.data(), state.data(), -1, nullptr});
    CHECK(a == 10); // 1, 2, 5, 10
    CHECK(b == 7);
    a = b = 1;
    loop({all.data(), state.data(), 2, nullptr});
    CHECK(a == 5);
    a = b = 0; // for ever, if nobody ends it
    const int none = 0;
    const std::array<const void*, 2> still{nullptr, &none};
    const std::array<compiled_loop_args::expression, 3> endless{
        {{own.data(), limit.data()}, {own.data(), nullptr}, {still.data(), nullptr}}};
    cancellation ended;
    ended.cancel();
    const step_context context{.session = &ended};
    CHECK_THROWS_AS(loop({endless.data(), state.data(), -1, &context}), cancelled);
}

} // namespace test_device_compiled_loop
