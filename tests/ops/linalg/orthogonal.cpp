// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/orthogonal.hpp>

#include <random>
#include <vector>

#include <rill/ops/array/transpose.hpp>
#include <rill/ops/linalg/matmul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_orthogonal {

/// rows * columns^T of the result, and of its transposed: which of them is gain^2 on the diagonal, else zero.
template <class T> void check(index_t rows, index_t columns, double gain) {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype_of<T>);
    const any_tensor q = apply_node(orthogonal_op{gain}, std::source_location::current(), x);
    std::mt19937 random(7);
    std::vector<T> drawn(static_cast<std::size_t>(rows * columns));
    for (T& v : drawn) v = std::normal_distribution<T>()(random);
    const auto at = op_test::make_array<T>({rows, columns}, drawn);
    const any_tensor product = rows < columns ? matmul(q, transpose(q)) : matmul(transpose(q), q);
    const auto got = op_test::reals(op_test::run(s, product, {x}, {at}));
    const auto n = static_cast<std::size_t>(std::min(rows, columns));
    REQUIRE(got.size() == n * n);
    const double close = sizeof(T) == 8 ? 1e-13 : 1e-5;
    double worst = 0;
    for (std::size_t i = 0; i < n * n; ++i)
        worst = std::max(worst, std::abs(got[i] - (i % (n + 1) == 0 ? gain * gain : 0)));
    INFO(rows << " x " << columns);
    CHECK(worst < close * gain * gain);
}

} // namespace test_orthogonal

TEMPLATE_TEST_CASE("orthogonal: columns, or rows, of the gain's length and at right angles", "", float, double) {
    for (const auto& [rows, columns] :
         {std::pair<index_t, index_t>{1, 1}, {2, 2}, {3, 5}, {5, 3}, {1, 7}, {7, 1}, {40, 33}, {64, 100}, {130, 130}})
        for (const double gain : {1., 2.5}) test_orthogonal::check<TestType>(rows, columns, gain);
}

TEST_CASE("orthogonal: Q of the QR decomposition whose R has a positive diagonal") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float64);
    const any_tensor q = apply_node(orthogonal_op{}, std::source_location::current(), x);
    const auto at = op_test::make_array<double>({3, 2}, {3, 1, 0, 2, 4, 3}); // columns (3 0 4), (1 2 3)
    // the second without its part along (3 0 4) / 5, which is 3: (1 2 3) - 3 (0.6 0 0.8) = (-0.8 2 0.6)
    const double length = std::sqrt(0.64 + 4 + 0.36);
    const std::vector<double> wanted{0.6, -0.8 / length, 0, 2 / length, 0.8, 0.6 / length};
    CHECK(op_test::far_apart(op_test::reals(op_test::run(s, q, {x}, {at})), wanted, 1e-15) == "");
    const auto three =
        op_test::make_array<double>({1, 3, 2}, {3, 1, 0, 2, 4, 3}); // the axes before the last count rows
    CHECK(op_test::far_apart(op_test::reals(op_test::run(s, q, {x}, {three})), wanted, 1e-15) == "");
    CHECK(op_test::run(s, q, {x}, {op_test::make_array<double>({0, 3}, {})}).shape() == dims{0, 3});
    CHECK_THROWS_WITH(
        apply_node(orthogonal_op{}, std::source_location::current(), any_placeholder("v", dtype::float64, {3})),
        contains("orthogonal") && contains("a matrix is expected"));
}

TEST_CASE("orthogonal: made by name, its fields read back") {
    const op_ptr made = make_op(orthogonal_op{.gain = 2});
    CHECK(make_op("Orthogonal", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("Orthogonal")->equals(*made));
}
