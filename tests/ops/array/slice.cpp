// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/slice.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_slice {

using slice_test::index;
using slice_test::picked;

template <class X, index_t... Size> using sliced = decltype(slice<Size...>(std::declval<const X&>(), dims{}));
static_assert(std::is_same_v<sliced<tensor<float, 4, 5>, 2, 3>, tensor<float, 2, 3>>);
static_assert(std::is_same_v<sliced<tensor<float, dyn, 5>, 2, dyn>, tensor<float, 2, dyn>>);
static_assert(slice_fits<extents<4, 5>, 4, 5> && !slice_fits<extents<4, 5>, 5, 5> && !slice_fits<extents<4, 5>, 1> &&
              !slice_fits<extents<4, 5>, -2, 1>);

TEST_CASE("slice: values and gradients, to second order") {
    const auto block = [](const auto& x) {
        return picked(x, {2, 3}, [](const index& i) { return index{i[0] + 1, i[1] + 2}; });
    };
    op_test::node<double, 2>([](const auto& x) { return slice<2, 3>(x, {1, 2}); }, block, {{4, 5}});
    op_test::node<double, 2>([](const auto& x) { return slice<2, dyn>(x * x, {1, 2}); },
                             [&](const auto& x) { return block(xt::xarray<double>(x * x)); }, {{4, 5}});
    op_test::node<int, 2>([](const auto& x) { return slice<2, 3>(x, {1, 2}); }, block, {{3, 5}});
    op_test::node<float, 1>([](const auto& x) { return slice<0>(x, {3}); },
                            [](const auto& x) { return picked(x, {0}, [](const index& i) { return i; }); }, {{3}});
}

TEST_CASE("slice: at run time, and what does not fit") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32);
    const any_tensor y = slice(x, {1, 0}, {dyn, 2});
    const auto at = op_test::make_array<float>({3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(op_test::difference<float>(op_test::run(s, y, {x}, {at}), {2, 2}, {3, 4, 6, 7}) == "");
    CHECK_THROWS_WITH(op_test::run(s, y, {x}, {op_test::make_array<float>({1, 1}, {0})}),
                      contains("slice: the slice reaches beyond the tensor") && contains("[1, 1]"));
    const tensor c = constant({{1, 2, 3}, {4, 5, 6}});
    CHECK_THROWS_WITH((slice<2, 2>(c, {1, 0})), contains("slice: the slice reaches beyond the tensor"));
    CHECK_THROWS_WITH((slice<2, 2>(c, {0})), contains("slice: a begin and a size are expected of each axis"));
    CHECK_THROWS_WITH((slice<2, 2>(c, {0, -1})), contains("slice: a begin or a size is negative"));
    CHECK(s.run(slice<1, 2>(c, {1, 1}))(0, 1) == 6);
}

TEST_CASE("slice: made by name, its fields read back") {
    const op_ptr made = make_op(slice_op{{1, 0}, {2, dyn}});
    CHECK(make_op("Slice", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_array_slice
