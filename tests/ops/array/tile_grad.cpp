// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/tile_grad.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_tile_grad {

TEST_CASE("tile_grad: the sum over repetitions, and its gradient") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor dy = any_placeholder("dy", dtype::float64), x = any_placeholder("x", dtype::float64);
    const auto sums = [&](const any_tensor& multiples) { return apply_node(tile_grad_op{}, {}, dy, x, multiples); };
    const auto got = [&](const any_tensor& y, const dims& tiled, const dims& shape) {
        std::vector<double> numbers;
        for (index_t i = 0; i < tiled.size(); ++i) numbers.push_back(static_cast<double>(i));
        return op_test::run(s, y, {dy, x},
                            {op_test::make_array(tiled, numbers), op_test::point_array<double>({}, shape)});
    };
    const auto y = sums(constant({2, 3}));
    // [2, 2] times [2, 3]: rows 0 and 2, columns 0, 2 and 4 meet
    CHECK(op_test::difference<double>(got(y, {4, 6}, {2, 2}), {2, 2}, {48, 54, 84, 90}) == "");
    CHECK(op_test::difference<double>(got(sums(constant({1, 1})), {2, 2}, {2, 2}), {2, 2}, {0, 1, 2, 3}) == "");
    CHECK(op_test::difference<double>(got(sums(constant({0, 2})), {0, 4}, {1, 2}), {1, 2}, {0, 0}) == "");
    CHECK(got(sums(constant({2, 1, 2, 1, 2, 2})), {4, 1, 2, 3, 2, 4}, {2, 1, 1, 3, 1, 2}).shape() ==
          dims{2, 1, 1, 3, 1, 2});
    CHECK_THROWS_WITH(got(y, {3, 6}, {2, 2}), contains("tile_grad: the gradient is not a repetition of the tensor"));
    CHECK_THROWS_AS(got(sums(constant({2, 2, 2, 2, 2})), {4, 4, 4, 4, 4}, {2, 2, 2, 2, 2}), unimplemented);
    op_test::gradient_check{
        s, {dy, x}, {op_test::point_array<double>({-1, 1}, {4, 6}), op_test::point_array<double>({-1, 1}, {2, 2})}}
        .check(y, 2);
}

TEST_CASE("tile_grad: made by name") { CHECK(make_op("TileGrad")->equals(*make_op(tile_grad_op{}))); }

} // namespace test_ops_array_tile_grad
