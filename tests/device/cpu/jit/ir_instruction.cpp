// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/ir_instruction.hpp>

#include <cstdint>

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

TEST_CASE("ir_instruction: the number of a cast tells both types") {
    static_assert(detail::cast_number<std::int32_t, std::int64_t> == 1);
    static_assert(detail::cast_number<std::int64_t, std::int32_t> == 4);
    static_assert(detail::cast_number<float, double> == 11);
    static_assert(detail::cast_number<double, std::int64_t> == 13);
    CHECK(detail::operands_of(vector_op::cast) == 1);
    CHECK(detail::operands_of(vector_op::state) == 0);
}
