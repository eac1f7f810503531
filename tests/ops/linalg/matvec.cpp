// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/matvec.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_matvec {

template <class A, class B> using product = decltype(matvec(std::declval<const A&>(), std::declval<const B&>()));
static_assert(std::is_same_v<product<tensor<float, 2, 3>, tensor<float, 3>>, tensor<float, 2>>);
static_assert(std::is_same_v<product<tensor<float, 5, 2, 3>, tensor<float, 3>>, tensor<float, 5, 2>>);
static_assert(!is_matrix_and_vector<extents<2, 3>, extents<2>>);

TEST_CASE("matvec: values and gradients, to second order") {
    op_test::node<double, 2, 1>([](const auto& m, const auto& v) { return matvec(m, v); },
                                [](const auto& m, const auto& v) {
                                    xt::xarray<double> y(std::vector<std::size_t>{m.shape(0)}, 0.);
                                    for (std::size_t i = 0; i < m.shape(0); ++i)
                                        for (std::size_t k = 0; k < m.shape(1); ++k) y(i) += m(i, k) * v(k);
                                    return y;
                                },
                                {{2, 3}, {3}});
}

TEST_CASE("matvec: types known at run time only, and what is refused") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor m = tensor(constant({{1.f, 2.f}, {3.f, 4.f}})), v = tensor(constant({1.f, 2.f})),
                     longer = tensor(constant({1.f, 2.f, 3.f})), whole = tensor(constant({1, 2}));
    CHECK(op_test::difference<float>(s.run(matvec(m, v)), {2}, {5, 11}) == "");
    CHECK_THROWS_WITH(matvec(m, longer), contains("matvec: a matrix [m, k] and a vector [k] are expected, not "
                                                  "float32 [2, 2] and float32 [3]"));
    CHECK_THROWS_WITH(matvec(v, v), contains("matvec: a matrix [m, k] and a vector [k] are expected"));
    CHECK_THROWS_WITH(matvec(m, whole), contains("matvec: the dtypes differ: float32 [2, 2] and int32 [2]"));
}

} // namespace test_ops_linalg_matvec
