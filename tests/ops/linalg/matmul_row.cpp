// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/matmul_row.hpp>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/relu.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_matmul_row {

std::vector<tensor_type> outputs(const matmul_row_op& op, std::vector<tensor_type> in) { return op.outputs(in); }

TEST_CASE("matmul_row: shapes") {
    const auto type = [](dims shape, dtype t = dtype::float32) { return tensor_type{t, shape}; };
    const auto made = outputs({}, {type({4, 2}), type({2, 3}), type({3})});
    REQUIRE(made.size() == 1);
    CHECK(made[0].shape == dims{4, 3});
    CHECK(outputs({true, true, false}, {type({2, dyn}), type({3, 2}), type({dyn})})[0].shape == dims{dyn, 3});
    CHECK_THROWS_WITH(outputs({}, {type({4, 2}), type({2, 3}), type({4})}), contains("a row of the product [4, 3]"));
    CHECK_THROWS_WITH(outputs({}, {type({4, 2}), type({2, 3}), type({1, 3})}), contains("a row of the product"));
    CHECK_THROWS_AS(outputs({}, {type({4, 2}), type({3, 3}), type({3})}), invalid_argument);
    CHECK_THROWS_WITH(outputs({}, {type({4, 2}), type({2, 3}), type({3}, dtype::float64)}),
                      contains("the dtypes differ"));
}

/// The bits of x w + b, and of its relu, whether the product is fetched too, and so a node of its own, or not.
template <class T> void compare(dims x_shape, dims w_shape, bool turned) {
    const graph g;
    const graph_scope here(g);
    const any_tensor x = any_placeholder("x", dtype_of<T>, x_shape), w = any_placeholder("w", dtype_of<T>, w_shape);
    const index_t n = w_shape[turned ? 0 : 1];
    const any_tensor b = any_placeholder("b", dtype_of<T>, {n});
    const any_tensor product = turned ? matmul(x, transpose(w)) : matmul(x, w);
    const any_tensor sum = product + b, rectified = relu(b + product);
    const session s(g);
    auto bv = op_test::point_array<T>({}, {n}, 3);
    const std::vector<feed_value> feeds{feed(x, op_test::point_array<T>({}, x_shape, 1)),
                                        feed(w, op_test::point_array<T>({}, w_shape, 2)), feed(b, bv)};
    INFO(to_string(x_shape) << to_string(w_shape) << turned);
    const auto apart = s.run(std::vector<any_tensor>{sum, product}, feeds);
    const auto with = s.run(std::vector<any_tensor>{sum}, feeds),
               bent = s.run(std::vector<any_tensor>{rectified}, feeds);
    const auto wanted = op_test::reals(apart[0]), products = op_test::reals(apart[1]), row = op_test::reals(bv);
    CHECK(op_test::reals(with[0]) == wanted);
    auto above = wanted;
    for (auto& v : above) v = v > 0 ? v : 0;
    CHECK(op_test::reals(bent[0]) == above);
    for (std::size_t i = 0; i < wanted.size(); ++i)
        REQUIRE(wanted[i] == Approx(products[i] + row[i % static_cast<std::size_t>(n)]).margin(1e-5));
}

TEST_CASE("matmul_row: x w + b in one step, bit for bit what two steps give") {
    detail::require_gradient_kernels<float>();
    detail::require_gradient_kernels<double>();
    for (const bool turned : {false, true})
        for (const auto& [m, k, n] : {std::tuple{4, 3, 5},
                                      {1, 7, 20},
                                      {9, 7, 1},
                                      {1, 3, 1},
                                      {3, 40, 70},
                                      {33, 10, 3},
                                      {70, 1100, 300},
                                      {300, 256, 512},
                                      {2, 0, 3},
                                      {0, 2, 3}}) {
            const dims w = turned ? dims{n, k} : dims{k, n};
            compare<float>({m, k}, w, turned);
            compare<double>({m, k}, w, turned);
        }
}

} // namespace test_ops_linalg_matmul_row
