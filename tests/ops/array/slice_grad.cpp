// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/slice_grad.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("slice_grad: zeros, with a block where a tensor says, and its gradient") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float64), dy = any_placeholder("dy", dtype::float64);
    const any_tensor y = apply_node(slice_grad_op{}, {}, dy, x, constant({1, 0}));
    const auto at = op_test::point_array<double>({-1, 1}, {2, 3}), block = op_test::make_array<double>({1, 2}, {4, 5});
    CHECK(op_test::difference<double>(op_test::run(s, y, {dy, x}, {block, at}), {2, 3}, {0, 0, 0, 4, 5, 0}) == "");
    CHECK_THROWS_WITH(op_test::run(s, y, {dy, x}, {at, block}), contains("slice_grad: the slice reaches beyond"));
    CHECK_THROWS_WITH(op_test::run(s, y, {dy, x}, {op_test::point_array<double>({-1, 1}, {2, 3}), at}),
                      contains("slice_grad: the slice reaches beyond the tensor: [2, 3] of [2, 3] from [1, 0] on"));
    op_test::gradient_check{s, {dy, x}, {block, at}}.check(y, 2);
}

TEST_CASE("slice_grad: made by name") { CHECK(make_op("SliceGrad")->equals(*make_op(slice_grad_op{}))); }
