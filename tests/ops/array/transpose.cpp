// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/transpose.hpp>

#include <rill/ops/math/gradients.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("transpose: orders, negative axes, gradient") {
    const graph g;
    const graph_scope here(g);
    xt::xtensor<float, 3> v({2, 3, 4});
    for (std::size_t i = 0; i < v.size(); ++i) v.storage()[i] = static_cast<float>(i);
    tensor x = constant(v);
    session s;
    const auto swapped = s.run(transpose<2, 0, -2>(x));
    const auto reversed = s.run(transpose(x));
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 4; ++k) {
                REQUIRE(swapped(k, i, j) == v(i, j, k));
                REQUIRE(reversed(k, j, i) == v(i, j, k));
            }
    static_assert(
        std::is_same_v<extents_of<decltype(transpose<1, 0>(std::declval<tensor<float, 2, dyn>>()))>, extents<dyn, 2>>);
    const tensor w = constant(swapped);
    const auto [dx] = gradients(reduce_sum(transpose<2, 0, 1>(x) * w), x); // the weights, permuted back
    const auto d = s.run(dx);
    for (std::size_t i = 0; i < v.size(); ++i) REQUIRE(d.storage()[i] == v.storage()[i]);
    const any_tensor any = any_tensor(x);
    CHECK(s.run(transpose(any)).shape() == dims{4, 3, 2});
}
