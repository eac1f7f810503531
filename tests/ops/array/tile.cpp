// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/tile.hpp>

#include <rill/ops/array/shape.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_tile {

using slice_test::index;
using slice_test::picked;

template <class X, index_t... M> using tiled = decltype(tile<M...>(std::declval<const X&>()));
static_assert(std::is_same_v<tiled<tensor<float, 2, dyn>, 3, 2>, tensor<float, 6, dyn>>);
static_assert(std::is_same_v<tiled<tensor<float, 2, dyn>, 1, 0>, tensor<float, 2, 0>>);
static_assert(!a_multiple_for_each_axis<extents<2>, 1, 1> && !a_multiple_for_each_axis<extents<2>, -1>);

template <class X> X repeated(const X& x, const index& multiples) {
    index shape;
    for (std::size_t i = 0; i < multiples.size(); ++i) shape.push_back(x.shape(i) * multiples[i]);
    return picked(x, shape, [&](index i) {
        for (std::size_t k = 0; k < i.size(); ++k) i[k] %= x.shape(k);
        return i;
    });
}

TEST_CASE("tile: values and gradients, to second order") {
    op_test::node<double, 2>([](const auto& x) { return tile<2, 3>(x); },
                             [](const auto& x) { return repeated(x, {2, 3}); }, {{2, 3}});
    op_test::node<double, 2>([](const auto& x) { return tile<3, 1>(x * x); },
                             [](const auto& x) { return repeated(xt::xarray<double>(x * x), {3, 1}); }, {{2, 3}});
    op_test::node<int, 1>([](const auto& x) { return tile<1000>(x); },
                          [](const auto& x) { return repeated(x, {1000}); }, {{3}});
    op_test::node<float, 2>([](const auto& x) { return tile<0, 2>(x); },
                            [](const auto& x) { return repeated(x, {0, 2}); }, {{2, 3}});
    op_test::node<int, 5>([](const auto& x) { return tile<2, 3, 1, 2, 2>(x); },
                          [](const auto& x) { return repeated(x, {2, 3, 1, 2, 2}); },
                          {{2, 1, 3, 2, 2}}); // more than a layout holds
}

TEST_CASE("tile: gradients where shapes are known") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 2, 3> x("x");
    op_test::gradient_check{s, {x}, {op_test::point_array<double>({-1, 1}, {2, 3})}}.check(tile<40, 2>(x), 2);
    const auto [none] = gradients(tile<0, 1>(x), x);
    CHECK(op_test::list(s.run(none, feed(x, xt::xtensor<double, 2>({2, 3}, 1.)))) == std::vector<double>(6));
}

static_assert(std::is_same_v<decltype(tile(std::declval<tensor<float, 2, 3>>(), std::declval<tensor<int, 2>>())),
                             tensor<float, dyn, dyn>>);
static_assert(!as_many_as_axes<extents<2, 3>, extents<3>> && as_many_as_axes<extents<2, 3>, extents<dyn>>);

TEST_CASE("tile: by multiples that the shapes of a run say") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, dyn> x("x");
    placeholder<int, dyn> n("n");
    const auto at = op_test::point_array<double>({-1, 1}, {2, 3});
    const auto y = tile(x, shape(x));
    CHECK(op_test::run(s, y, {x}, {at}).shape() == dims{4, 9});
    CHECK(op_test::run(s, tensor(y - tile<2, 3>(x)), {x}, {at}).elements<double>()[35] == 0);
    op_test::gradient_check{s, {x}, {at}}.check(tensor(y * y), 2);
    op_test::gradient_check{s, {x}, {at}}.check(square(tile(any_tensor(x), constant({1, 2}))), 2);
    const auto by_data = tile(x, n);
    for (const int times : {1, 3, 0})
        CHECK(s.run(by_data, feed(x, xt::xtensor<double, 2>({2, 2}, 1.)), feed(n, {times, 2})).shape(0) ==
              static_cast<std::size_t>(2 * times));
    const auto [dx] = gradients(by_data, x);
    CHECK(s.run(dx, feed(x, xt::xtensor<double, 2>({2, 2}, 1.)), feed(n, {3, 2}))(1, 1) == 6);
    CHECK_THROWS_WITH(tile(any_tensor(x), constant({1})), contains("tile: a multiple is expected for each axis"));
    CHECK_THROWS_WITH(tile(x, constant({1, -1})), contains("tile: a multiple is negative"));
}

TEST_CASE("tile: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor c = constant({1, 2});
    CHECK(op_test::difference<int>(s.run(tile(c, {2})), {4}, {1, 2, 1, 2}) == "");
    CHECK_THROWS_WITH(tile(c, {2, 2}), contains("tile: a multiple is expected for each axis") && contains("[2]"));
    CHECK_THROWS_WITH(tile(c, {-1}), contains("tile: a multiple is negative"));
    CHECK_THROWS_WITH(tile(c, {std::numeric_limits<index_t>::max()}), contains("more elements than an index counts"));
    const op_ptr made = make_op(tile_op{{2, 3}});
    CHECK(make_op("Tile", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_array_tile
