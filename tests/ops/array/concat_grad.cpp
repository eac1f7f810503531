// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/concat_grad.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_concat_grad {

std::vector<any_tensor> cut(const any_tensor& x, const std::vector<any_tensor>& like, int axis) {
    require_kernel<concat_grad_op, double>();
    require_kernel<concat_grad_op, float>();
    std::vector<endpoint> inputs{x};
    inputs.insert(inputs.end(), like.begin(), like.end());
    const auto* n = detail::add_node(x.graph(), make_op(concat_grad_op{axis}), inputs);
    std::vector<any_tensor> parts;
    for (std::size_t i = 0; i < like.size(); ++i) parts.emplace_back(endpoint{n, static_cast<int>(i)});
    return parts;
}

TEST_CASE("concat_grad: cuts into parts, and joins their gradients") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, dyn> x("x"), a("a"), b("b");
    const auto parts = cut(x, {a, b}, 1);
    const std::vector<any_tensor> xs{x, a, b};
    const std::vector<any_array> at{op_test::point_array<double>({}, {2, 5}), op_test::point_array<double>({}, {2, 2}),
                                    op_test::point_array<double>({}, {2, 3})};
    const auto left = op_test::run(s, parts[0], xs, at), right = op_test::run(s, parts[1], xs, at);
    CHECK(left.shape() == dims{2, 2});
    CHECK(right.shape() == dims{2, 3});
    CHECK(left.elements<double>()[2] == at[0].elements<double>()[5]);
    CHECK(right.elements<double>()[0] == at[0].elements<double>()[2]);
    CHECK(right.elements<double>()[5] == at[0].elements<double>()[9]);
    op_test::gradient_check{s, xs, at}.check(parts[1], 2); // zeros stand for the part without a gradient
}

TEST_CASE("concat_grad: refuses what does not fit") {
    const graph g;
    const graph_scope here(g);
    const tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
    const tensor row = constant({{1.f, 2.f}});
    CHECK(cut(x, {row, row}, 0).size() == 2);
    CHECK_THROWS_WITH(cut(x, {row}, 0), contains("concat_grad: the parts don't make up the whole"));
    CHECK_THROWS_AS(cut(x, {row, row}, 1), invalid_argument);
}

} // namespace test_ops_array_concat_grad
