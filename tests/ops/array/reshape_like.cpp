// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/reshape_like.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

static_assert(rules::sizes_compatible({2, 3}, {6}) && !rules::sizes_compatible({2, 3}, {5}));
static_assert(rules::sizes_compatible({dyn, 3}, {9}) && !rules::sizes_compatible({dyn, 3}, {8}));
static_assert(rules::sizes_compatible({8}, {dyn, 2}) && !rules::sizes_compatible({7}, {2, dyn}));
static_assert(rules::sizes_compatible({0}, {dyn, 0}) && !rules::sizes_compatible({3}, {dyn, 0}));
static_assert(rules::sizes_compatible(dims::unknown(), {5}) && rules::sizes_compatible({dyn, 2}, {dyn, 3}));

TEST_CASE("reshape_like: values and gradients") {
    const auto in_shape = [](auto x, const auto& like) {
        x.reshape(like.shape());
        return x;
    };
    const auto f = [](const auto& x, const auto& like) { return reshape_like(x, like); };
    op_test::node<double, 2, 3>(f, in_shape, {{3, 8}, {2, 3, 4}});
    op_test::node<double, 1, 0>([](const auto& x, const auto& y) { return reshape_like(x * x, y); },
                                [](const auto& x, const auto&) { return xt::xarray<double>(x(0) * x(0)); }, {{1}, {}});
    op_test::node<float, 1, 2>(f, in_shape, {{0}, {3, 0}});
}

TEST_CASE("reshape_like: types and refusals") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    placeholder<int, 2, 3> like("like");
    static_assert(std::is_same_v<decltype(reshape_like(x, like)), tensor<float, 2, 3>>);
    const auto y = reshape_like(x, like);
    const xt::xtensor<int, 2> ids({2, 3}, 1);
    CHECK(s.run(y, feed(x, xt::xtensor<float, 2>({6, 1}, 2.f)), feed(like, ids))(1, 2) == 2.f);
    CHECK_THROWS_WITH(s.run(y, feed(x, xt::xtensor<float, 2>({5, 1})), feed(like, ids)),
                      contains("reshape_like: the sizes differ"));
    CHECK_THROWS_AS(reshape_like(any_tensor(like), tensor(constant({1, 2}))), invalid_argument);
}
