// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/strided_slice.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_strided_slice {

using slice_test::index;
using slice_test::picked;
constexpr index_t all = slice_range::all;

template <class X, slice_range... R> using sliced = decltype(strided_slice<R...>(std::declval<const X&>()));
static_assert(std::is_same_v<sliced<tensor<float, 5, dyn>, slice_range{1, -1, 2}>, tensor<float, 2, dyn>>);
static_assert(std::is_same_v<sliced<tensor<int, 5, 4>, slice_range{}, slice_range{all, all, -3}>, tensor<int, 5, 2>>);
static_assert(std::is_same_v<sliced<any_tensor, slice_range{}>, any_tensor>);
static_assert(no_more_ranges_than_axes<extents<2>, slice_range{}> &&
              !no_more_ranges_than_axes<extents<2>, slice_range{}, slice_range{}>);

TEST_CASE("strided_slice: values and gradients, to second order") {
    op_test::node<double, 2>(
        [](const auto& x) { return strided_slice<slice_range{1, -1, 2}, slice_range{all, all, -1}>(x); },
        [](const auto& x) { return picked(x, {2, 3}, [](const index& i) { return index{1 + 2 * i[0], 2 - i[1]}; }); },
        {{6, 3}});
    op_test::node<double, 3>([](const auto& x) { return strided_slice<slice_range{-1, all, 1}>(x * x); },
                             [](const auto& x) {
                                 const xt::xarray<double> squares = x * x;
                                 return picked(squares, {1, 3, 2}, [](const index& i) { return index{1, i[1], i[2]}; });
                             },
                             {{2, 3, 2}});
    op_test::node<int, 2>([](const auto& x) { return strided_slice<slice_range{5, 9, 1}>(x); },
                          [](const auto& x) { return picked(x, {0, 3}, [](const index& i) { return i; }); }, {{4, 3}});
    op_test::node<float, 2>([](const auto& x) { return strided_slice<slice_range{all, all, 3}>(x); },
                            [](const auto& x) { return picked(x, {0, 3}, [](const index& i) { return i; }); },
                            {{0, 3}});
}

TEST_CASE("strided_slice: at run time, of any dtype") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32);
    const any_tensor y = strided_slice(x, {{0, all, 2}, {1, 3, 1}});
    const auto got = s.run(y, feed(x, xt::xtensor<float, 2>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}));
    CHECK(op_test::difference<float>(got, {2, 2}, {1, 2, 9, 10}) == "");
    CHECK_THROWS_WITH(s.run(y, feed(x, std::vector<float>{1, 2})),
                      contains("strided_slice: there are more ranges than axes") && contains("[2]"));
    CHECK_THROWS_WITH(strided_slice(tensor(constant({1, 2})), {{0, 1, 0}}), contains("strided_slice: a step is 0"));
    const auto text = s.run(strided_slice<slice_range{all, all, -1}>(constant({std::string("a"), std::string("b")})));
    CHECK(text(0) == "b");
}

TEST_CASE("strided_slice: made by name, its fields read back") {
    const op_ptr made = make_op(strided_slice_op{{{1, all, 2}, {}}});
    CHECK(make_op("StridedSlice", 1, bytes_of_fields(*made))->equals(*made));
    CHECK_FALSE(make_op("StridedSlice")->equals(*made));
}

} // namespace test_ops_array_strided_slice
