// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/row_program.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_row_program {

struct rows {
    using brings = detail::row_ops;
};

} // namespace test_row_program

TEST_CASE("row_program: products and sums of rows, and their gradients") {
    using test_row_program::rows;
    detail::bring_along<rows, double>();
    const auto scaled = [](const auto& row, const auto& x) {
        return any_tensor(detail::row_product<rows>(detail::each_row(row), {x}));
    };
    op_test::node<double, 1, 2>(scaled,
                                [](const auto& row, const auto& x) {
                                    auto out = x;
                                    for (std::size_t i = 0; i < x.shape(0); ++i)
                                        for (std::size_t j = 0; j < x.shape(1); ++j) out(i, j) *= row(i);
                                    return out;
                                },
                                {{3}, {3, 4}}, {.order = 3});
    const auto dot = [](const auto& a, const auto& b) { return any_tensor(detail::row_dot<rows>(a, b)); };
    const auto dot_reference = [](const auto& a, const auto& b) {
        xt::xarray<double> out(std::vector<std::size_t>{a.shape(0)}, 0.);
        for (std::size_t i = 0; i < a.shape(0); ++i)
            for (std::size_t j = 0; j < a.shape(1); ++j) out(i) += a(i, j) * b(i, j);
        return out;
    };
    op_test::node<double, 2, 2>(dot, dot_reference, {{3, 4}, {3, 4}}, {.order = 3});
    op_test::node<double, 2>([](const auto& a) { return any_tensor(detail::row_dot<rows>(a, a)); },
                             [&](const auto& a) { return dot_reference(a, a); }, {{3, 4}},
                             {.order = 3}); // one input twice
    op_test::node<double, 2>([](const auto& a) { return any_tensor(detail::row_sum<rows>(a)); },
                             [](const auto& a) {
                                 xt::xarray<double> out(std::vector<std::size_t>{a.shape(0)}, 0.);
                                 for (std::size_t i = 0; i < a.shape(0); ++i)
                                     for (std::size_t j = 0; j < a.shape(1); ++j) out(i) += a(i, j);
                                 return out;
                             },
                             {{3, 2000}}, {.order = 0});
}

TEST_CASE("row_program: shapes as rows") {
    const detail::row_view cube({2, 3, 4}), line({5}), scalar({});
    CHECK(cube.rows == 6);
    CHECK(cube.columns == 4);
    CHECK(line.rows == 1);
    CHECK(line.columns == 5);
    CHECK(scalar.rows == 1);
    CHECK(scalar.columns == 1);
}
