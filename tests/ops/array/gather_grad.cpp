// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/gather_grad.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_gather_grad {

any_tensor scattered(const any_tensor& slices, const any_tensor& ids, const any_tensor& table, int axis) {
    require_kernel<gather_grad_op, double>();
    require_kernel<gather_op, double>();
    return endpoint{detail::add_node(slices.graph(), make_op(gather_grad_op{axis}), {slices, ids, table}), 0};
}

TEST_CASE("gather_grad: adds slices up, and gathers its own gradient") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, dyn> slices("slices"), table("table");
    const tensor ids = constant({2, 0, 2});
    const any_tensor y = scattered(slices, ids, table, 1);
    const std::vector<any_tensor> xs{slices, table};
    const std::vector<any_array> at{op_test::make_array<double>({2, 3}, {1, 2, 3, 4, 5, 6}),
                                    op_test::make_array<double>({2, 4}, std::vector<double>(8, 9.))};
    CHECK(op_test::difference<double>(op_test::run(s, y, xs, at), {2, 4}, {2, 0, 4, 0, 5, 0, 10, 0}) == "");
    op_test::gradient_check{s, xs, at}.check(y, 2);
}

TEST_CASE("gather_grad: refuses what does not fit") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor slices = constant({1., 2.});
    const tensor table = constant({0., 0., 0.});
    CHECK_THROWS_WITH(scattered(slices, tensor(constant({0, 1, 2})), table, 0),
                      contains("gather_grad: the slices don't fit"));
    CHECK_THROWS_WITH(scattered(slices, slices, table, 0), contains("gather_grad: the ids must be int32 or int64"));
    CHECK_THROWS_AS(s.run(scattered(slices, tensor(constant({0, 3})), table, 0)), invalid_argument);
}

} // namespace test_ops_array_gather_grad
