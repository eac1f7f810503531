// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/slice.hpp>

#include <rill/ops/array/shape.hpp>
#include <rill/ops/array/strided_slice.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/state/variable.hpp>

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

static_assert(
    std::is_same_v<decltype(slice<2, dyn>(std::declval<tensor<float, 4, 5>>(), std::declval<tensor<int, 2>>())),
                   tensor<float, 2, dyn>>);
static_assert(std::is_same_v<decltype(slice(std::declval<tensor<float, 4, 5>>(), std::declval<tensor<int, 2>>(),
                                            std::declval<tensor<std::int64_t, 2>>())),
                             tensor<float, dyn, dyn>>);

TEST_CASE("slice: from where data says on") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 3> x("x");
    placeholder<std::int64_t, 2> from("from");
    const xt::xtensor<float, 2> at{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
    const auto y = slice<2, 2>(x, from);
    const auto run = [&](std::int64_t row, std::int64_t column) {
        return op_test::list(s.run(y, feed(x, at), feed(from, {row, column})));
    };
    CHECK(run(0, 0) == std::vector<float>{0, 1, 3, 4});
    CHECK(run(1, 1) == std::vector<float>{4, 5, 7, 8});
    CHECK_THROWS_WITH(run(2, 0),
                      contains("slice: the slice reaches beyond the tensor: [2, 2] of [3, 3] from [2, 0] on"));
    CHECK_THROWS_AS(run(0, -1), invalid_argument);
    const auto rest = slice<dyn, 2>(x, from); // as long as data say
    CHECK(op_test::list(s.run(rest, feed(x, at), feed(from, {2, 0}))) == std::vector<float>{6, 7});
    CHECK(op_test::list(s.run(rest, feed(x, at), feed(from, {1, 1}))) == std::vector<float>{4, 5, 7, 8});
    placeholder<std::int64_t, 2> size("size");
    CHECK(op_test::list(s.run(slice(x, from, size), feed(x, at), feed(from, {1, 1}), feed(size, {-1, 1}))) ==
          std::vector<float>{4, 7});
    placeholder<int, 1> start("start"), count("count"); // each begin has a rest of its own
    placeholder<float, dyn> line("line");
    const auto tail = slice(line, start, count), rest_of = slice(line, start, constant({-1}));
    const std::vector<float> five{0, 1, 2, 3, 4};
    for (const int begin : {2, 0, 1, 5, 2}) {
        const std::vector<float> wanted(five.begin() + begin, five.end());
        CHECK(op_test::list(s.run(tail, feed(line, five), feed(start, {begin}), feed(count, {-1}))) == wanted);
        CHECK(op_test::list(s.run(rest_of, feed(line, five), feed(start, {begin}))) == wanted);
    }
    CHECK_THROWS_WITH((slice(any_tensor(x), constant({1}), constant({1, 1}))),
                      contains("slice: a begin and a size are expected of each axis"));
    CHECK_THROWS_WITH((slice(any_tensor(x), any_tensor(x), constant({1, 1}))), contains("the begin must be int32"));
    const auto [dx] = gradients(y * y, x);
    CHECK(op_test::list(s.run(dx, feed(x, at), feed(from, {1, 0}))) == std::vector<float>{0, 0, 0, 6, 8, 0, 12, 14, 0});
}

TEST_CASE("slice: of a size that the shapes of a run say") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, dyn> x("x");
    const auto half = slice(x, shape(x) / 2, shape(x) - shape(x) / 2);
    const auto rest = slice(any_tensor(x), shape(x) / 2, constant({-1, 1}));
    const auto at = op_test::point_array<double>({-1, 1}, {4, 3});
    const auto all = at.elements<double>();
    CHECK(op_test::difference<double>(op_test::run(s, half, {x}, {at}), {2, 2}, {all[7], all[8], all[10], all[11]}) ==
          "");
    CHECK(op_test::difference<double>(op_test::run(s, rest, {x}, {at}), {2, 1}, {all[7], all[10]}) == "");
    op_test::gradient_check{s, {x}, {at}}.check(tensor(half * half), 2);
    CHECK_THROWS_WITH(op_test::run(s, slice(x, shape(x) / 2, shape(x)), {x}, {at}),
                      contains("slice: the slice reaches beyond the tensor"));
}

TEST_CASE("slice: one of a variable sits beside it, so that no table travels") {
    const graph g;
    const graph_scope here(g);
    const auto table = [] {
        const device_scope server("/job:ps/task:1");
        return variable<float, 3, 2>("table", {{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
    }();
    const device_scope worker("/job:worker/cpu:0");
    const auto beside = [](const any_tensor& block) { return block.node()->colocated; };
    const tensor block = slice<2, 2>(table, {1, 0});
    CHECK(beside(block) == table.node());
    CHECK(requested_device(*block.node()) == "/job:ps/task:1");
    CHECK(beside(slice(table, constant({0, 0}), constant({1, 2}))) == table.node());
    CHECK(beside(strided_slice<slice_range{0, -1, 2}>(table)) == table.node());
    CHECK(beside(slice<2, 2>(tensor(table * 2.f), {1, 0})) == nullptr);
    const auto [slope] = gradients(block * block, table);
    CHECK(beside(slope) == nullptr); // the dense gradient is the worker's
    const device_scope here_all_the_same("/job:worker/cpu:0", explicitly);
    CHECK(beside(slice<1, 2>(table, {1, 0})) == nullptr);
}

TEST_CASE("slice: made by name, its fields read back") {
    const op_ptr made = make_op(slice_op{{1, 0}, {2, dyn}});
    CHECK(make_op("Slice", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_array_slice
