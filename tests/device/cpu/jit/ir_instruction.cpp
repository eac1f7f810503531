// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/ir_instruction.hpp>

#include "catch.hpp"

using namespace rill;
using detail::vector_op;

TEST_CASE("ir_instruction: how many values it reads") {
    static_assert(detail::operands_of(vector_op::leaf) == 0);
    static_assert(detail::operands_of(vector_op::round) == 1);
    static_assert(detail::operands_of(vector_op::add) == 2);
    static_assert(detail::operands_of(vector_op::multiply_add) == 3);
    static_assert(detail::operands_of(vector_op::compare_choose) == 4);
    const detail::ir_instruction sum{vector_op::add, 0, {1, 2, -1, -1}};
    CHECK(sum == detail::ir_instruction{vector_op::add, 0, {1, 2, -1, -1}});
    CHECK(sum < detail::ir_instruction{vector_op::add, 0, {1, 3, -1, -1}});
}
