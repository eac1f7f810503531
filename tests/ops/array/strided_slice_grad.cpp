// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/strided_slice_grad.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_strided_slice_grad {

TEST_CASE("strided_slice_grad: zeros, with a tensor where the ranges say, and its gradient") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float64), dy = any_placeholder("dy", dtype::float64);
    const any_tensor y = apply_node(strided_slice_grad_op{{{0, slice_range::all, 2}}}, {}, dy, x);
    const auto at = op_test::make_array<double>({5}, {9, 9, 9, 9, 9}),
               part = op_test::make_array<double>({3}, {1, 2, 3});
    CHECK(op_test::difference<double>(op_test::run(s, y, {dy, x}, {part, at}), {5}, {1, 0, 2, 0, 3}) == "");
    CHECK_THROWS_WITH(op_test::run(s, y, {dy, x}, {at, at}), contains("the ranges don't take that shape"));
    op_test::gradient_check{s, {dy, x}, {part, at}}.check(y, 2);
}

} // namespace test_ops_array_strided_slice_grad
