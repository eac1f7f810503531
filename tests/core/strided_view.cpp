// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/strided_view.hpp>

#include <cstring>
#include <vector>

#include <rill/ops/array/pad.hpp>
#include <rill/ops/array/strided_slice.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("strided_view: a slice of a matrix by its first element and the strides of its axes") {
    const std::vector<tensor_type> in{{dtype::float32, dims{5, 7}}};
    const auto view = make_op(strided_slice_op{{{1, -1}, {2, 7, 2}}})->view_of_input(in);
    REQUIRE(view);
    CHECK(view->begin == 1 * 7 + 2);
    CHECK(view->stride[0] == 7);
    CHECK(view->stride[1] == 2);
    const auto one = make_op(strided_slice_op{{{0, 1, 1000}}})->view_of_input(in);
    REQUIRE(one);
    CHECK(one->stride[0] == 7); // the step of one element is not taken
}

TEST_CASE("strided_view: a padded matrix holds its value at a view, and one element around it") {
    const std::vector<tensor_type> in{{dtype::int32, dims{2, 3}}};
    pad_op op;
    op.before = dims{1, 0};
    op.after = dims{0, 2};
    op.value = -4;
    const auto padded = make_op(op)->pads_input(in);
    REQUIRE(padded);
    CHECK(padded->whole == dims{3, 5});
    CHECK(padded->before == dims{1, 0});
    CHECK(padded->value.begin == 5);
    CHECK(padded->value.stride[0] == 5);
    CHECK(padded->value.stride[1] == 1);
    std::int32_t around = 0;
    std::memcpy(&around, padded->around.data(), sizeof around);
    CHECK(around == -4);
}
