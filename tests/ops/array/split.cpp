// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/split.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_split {

using slice_test::index;
using slice_test::picked;

template <class X, int Axis, index_t N> using parts = decltype(split<Axis, N>(std::declval<const X&>()));
static_assert(std::is_same_v<parts<tensor<float, 2, 6>, 1, 3>,
                             std::tuple<tensor<float, 2, 2>, tensor<float, 2, 2>, tensor<float, 2, 2>>>);
static_assert(std::is_same_v<parts<tensor<int, dyn, 6>, 0, 2>, std::tuple<tensor<int, dyn, 6>, tensor<int, dyn, 6>>>);
static_assert(!parts_are_equal<extents<5>, 0, 2> && parts_are_equal<extents<dyn>, 0, 2>);

TEST_CASE("split: values and gradients, to second order") {
    const auto part = [](std::size_t k) {
        return
            [=](const auto& x) { return picked(x, {2, 2}, [=](const index& i) { return index{i[0], i[1] + 2 * k}; }); };
    };
    op_test::node<double, 2>([](const auto& x) { return std::get<0>(split<1, 3>(x)); }, part(0), {{2, 6}});
    op_test::node<int, 2>([](const auto& x) { return std::get<2>(split<-1, 3>(x)); }, part(2), {{2, 6}});
    op_test::node<double, 2>(
        [](const auto& x) {
            const auto [a, b, c] = split<1, 3>(x * x);
            return a * b + c;
        },
        [&](const auto& x) {
            const xt::xarray<double> y = x * x;
            return xt::xarray<double>(part(0)(y) * part(1)(y) + part(2)(y));
        },
        {{2, 6}});
}

TEST_CASE("split: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32, {dyn});
    const auto at = op_test::make_array<float>({6}, {0, 1, 2, 3, 4, 5});
    const auto halves = split(x, 2, 0);
    REQUIRE(halves.size() == 2);
    CHECK(op_test::difference<float>(op_test::run(s, halves[1], {x}, {at}), {3}, {3, 4, 5}) == "");
    CHECK_THROWS_WITH(op_test::run(s, split(x, 4, 0)[0], {x}, {at}),
                      contains("split: the parts would not be equal") && contains("[6]"));
    const tensor five = constant({1, 2, 3, 4, 5});
    CHECK_THROWS_WITH(split(five, 0, 0), contains("split: the number of parts"));
    CHECK_THROWS_WITH(split(five, 2, 1), contains("split: the axis is out of range"));
}

TEST_CASE("split: made by name, its fields read back") {
    const op_ptr made = make_op(split_op{1, 3});
    CHECK(make_op("Split", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_array_split
