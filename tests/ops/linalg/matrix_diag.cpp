// SPDX-License-Identifier: BSD-3-Clause
// The diagonals of matrices, their bands and transposes.
#include <rill/ops/linalg/matrix_diag.hpp>

#include <rill/ops/array/eye.hpp>
#include <rill/ops/linalg/diag.hpp>
#include <rill/ops/linalg/matmul.hpp>
#include <rill/ops/linalg/matrix_band_part.hpp>
#include <rill/ops/linalg/matrix_transpose.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_matrix_diag {

template <class X> using part = decltype(matrix_diag_part(std::declval<const X&>()));
static_assert(std::is_same_v<part<tensor<float, 5, 2, 3>>, tensor<float, 5, 2>>);
static_assert(std::is_same_v<part<tensor<float, dyn, 3>>, tensor<float, dyn>>);
static_assert(std::is_same_v<decltype(matrix_diag(tensor<int, 4, 3>())), tensor<int, 4, 3, 3>>);
static_assert(std::is_same_v<decltype(diag(tensor<int, 4, 3>())), tensor<int, 4, 3, 4, 3>>);
static_assert(std::is_same_v<decltype(diag_part(tensor<int, 4, dyn, dyn, 3>())), tensor<int, 4, 3>>);
static_assert(std::is_same_v<decltype(matrix_transpose(tensor<float, 4, 2, 3>())), tensor<float, 4, 3, 2>>);
static_assert(std::is_same_v<decltype(trace(tensor<float, 4, 3, 3>())), tensor<float, 4>>);

/// An op over tensors, and which of the operands' elements its result has; -1: a zero.
struct row {
    const char* name;
    std::function<any_tensor(const std::vector<any_tensor>&)> f;
    std::vector<dims> shapes;
    dims result;
    std::vector<int> from; // counted through all operands
};

const std::vector<row>& rows() {
    using list = const std::vector<any_tensor>&;
    static const std::vector<row> all{
        {"matrix_diag", [](list x) { return matrix_diag(x[0]); }, {{2, 2}}, {2, 2, 2}, {0, -1, -1, 1, 2, -1, -1, 3}},
        {"matrix_diag_part", [](list x) { return matrix_diag_part(x[0]); }, {{2, 2, 3}}, {2, 2}, {0, 4, 6, 10}},
        {"matrix_diag_part", [](list x) { return matrix_diag_part(x[0]); }, {{3, 2}}, {2}, {0, 3}},
        {"matrix_set_diag",
         [](list x) { return matrix_set_diag(x[0], x[1]); },
         {{2, 3}, {2}},
         {2, 3},
         {6, 1, 2, 3, 7, 5}},
        {"matrix_band_part",
         [](list x) { return matrix_band_part(x[0], -1, 0); },
         {{2, 3}},
         {2, 3},
         {0, -1, -1, 3, 4, -1}},
        {"matrix_band_part",
         [](list x) { return matrix_band_part(x[0], 0, 1); },
         {{3, 3}},
         {3, 3},
         {0, 1, -1, -1, 4, 5, -1, -1, 8}},
        {"matrix_band_part",
         [](list x) { return matrix_band_part(x[0], 0, 7); },
         {{2, 2, 2}},
         {2, 2, 2},
         {0, 1, -1, 3, 4, 5, -1, 7}},
        {"matrix_band_part",
         [](list x) {
             constexpr index_t many = std::numeric_limits<index_t>::max();
             return matrix_band_part(x[0], many, many);
         },
         {{2, 2}},
         {2, 2},
         {0, 1, 2, 3}},
        {"diag", [](list x) { return diag(x[0]); }, {{2}}, {2, 2}, {0, -1, -1, 1}},
        {"diag_part", [](list x) { return diag_part(x[0]); }, {{1, 2, 1, 2}}, {1, 2}, {0, 3}},
        {"matrix_transpose", [](list x) { return matrix_transpose(x[0]); }, {{2, 1, 2}}, {2, 2, 1}, {0, 1, 2, 3}},
        {"matrix_transpose", [](list x) { return matrix_transpose(x[0]); }, {{1, 2, 2}}, {1, 2, 2}, {0, 2, 1, 3}},
        {"nothing", [](list x) { return matrix_diag(matrix_diag_part(x[0])); }, {{0, 3, 3}}, {0, 3, 3}, {}},
    };
    return all;
}

TEST_CASE("matrix_diag and its kin: values and gradients, to second order") {
    for (const row& r : rows()) {
        INFO(r.name);
        const graph g;
        const graph_scope here(g);
        const session s(g);
        std::vector<any_tensor> x;
        std::vector<any_array> at;
        std::vector<double> numbers{}, wanted;
        for (std::size_t i = 0; i < r.shapes.size(); ++i) {
            x.push_back(any_placeholder("x" + std::to_string(i), dtype::float64));
            at.push_back(op_test::point_array<double>({-1, 1}, r.shapes[i], static_cast<int>(i)));
            const auto more = op_test::reals(at.back());
            numbers.insert(numbers.end(), more.begin(), more.end());
        }
        for (const int k : r.from) wanted.push_back(k < 0 ? 0 : numbers[static_cast<std::size_t>(k)]);
        const any_tensor y = r.f(x);
        CHECK(op_test::difference<double>(op_test::run(s, y, x, at), r.result, wanted, 0) == "");
        op_test::gradient_check{s, x, at}.check(y, 2);
    }
}

TEST_CASE("trace, eye of batches, adjoint") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const placeholder<double, dyn, 2, 2> x("x");
    const auto at = op_test::make_array<double>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(op_test::list(s.run(trace(x), feed(x, at))) == std::vector<double>{5, 13});
    CHECK(op_test::reals(op_test::run(s, any_tensor(adjoint(x)), {x}, {at})) ==
          std::vector<double>{1, 3, 2, 4, 5, 7, 6, 8});
    const any_array ones = s.run(eye<double>(2, 3, {2}));
    CHECK(ones.shape() == dims{2, 2, 3});
    CHECK(op_test::reals(ones) == std::vector<double>{1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0});
}

TEST_CASE("matrix_diag and its kin: what does not fit") {
    const graph_scope here{graph()};
    const auto v = any_placeholder("v", dtype::float32, {4}), m = any_placeholder("m", dtype::float32, {4, 3}),
               n = any_placeholder("n", dtype::float32);
    CHECK_THROWS_WITH(matrix_diag_part(v), contains("matrices are expected") && contains("[4]"));
    CHECK_THROWS_WITH(matrix_set_diag(m, v), contains("the diagonal has another shape"));
    CHECK_THROWS_WITH(diag_part(m), contains("the second half of the axes differs"));
    CHECK_THROWS_WITH(matrix_band_part(m, -2, 0), contains("a number of diagonals is less than -1"));
    CHECK_THROWS_WITH(matrix_transpose(v), contains("matrices are expected"));
    const session s;
    CHECK_THROWS_WITH(op_test::run(s, matrix_diag_part(n), {n}, {op_test::make_array<float>({2}, {1, 2})}),
                      contains("matrix_diag_part") && contains("matrices are expected"));
    const op_ptr made = make_op(matrix_band_part_op{1, 2});
    CHECK(make_op("MatrixBandPart", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_linalg_matrix_diag
