// SPDX-License-Identifier: BSD-3-Clause
// Elements that only move: roll, bitcast, meshgrid, dynamic_partition and dynamic_stitch, list_diff, invert_permutation.
#include <rill/ops/array/roll.hpp>

#include <rill/ops/array/bitcast.hpp>
#include <rill/ops/array/dynamic_partition.hpp>
#include <rill/ops/array/dynamic_stitch.hpp>
#include <rill/ops/array/invert_permutation.hpp>
#include <rill/ops/array/list_diff.hpp>
#include <rill/ops/array/meshgrid.hpp>
#include <rill/ops/array/range.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_roll {

TEST_CASE("roll: values and gradient, to second order") {
    const auto reference = [](std::size_t by) {
        return [by](const auto& x) {
            auto y = x;
            const std::size_t rows = x.shape(0), columns = x.shape(1);
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = 0; j < columns; ++j) y(i, (j + by) % columns) = x(i, j);
            return y;
        };
    };
    op_test::node<double, 2>([](const auto& x) { return roll<1>(x, 3); }, reference(3), {{3, 4}});
    op_test::node<int, 2>([](const auto& x) { return roll<1>(x, -5); }, reference(3), {{3, 4}});
    op_test::node<float, 2>([](const auto& x) { return roll<-1>(x, 0); }, reference(0), {{3, 0}});
    op_test::node<double, 2>([](const auto& x) { return roll<1>(x, 1) * x; },
                             [&](const auto& x) { return xt::xarray<double>(reference(1)(x) * x); }, {{2, 3}});
    static_assert(std::is_same_v<decltype(roll<1>(std::declval<tensor<float, 2, dyn>>(), 1)), tensor<float, 2, dyn>>);
}

TEST_CASE("roll: axes and types that are known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto x = any_placeholder("x", dtype::float32);
    const auto at = op_test::make_array<float>({2, 2}, {1, 2, 3, 4});
    const any_array got = op_test::run(s, roll(x, 1, 0), {x}, {at});
    CHECK(op_test::difference<float>(got, {2, 2}, {3, 4, 1, 2}) == "");
    CHECK_THROWS_WITH(roll(tensor(constant({1, 2})), 1, 1),
                      contains("roll: the axis is out of range") && contains("[2]"));
}

TEST_CASE("roll: made by name, its fields read back") {
    const op_ptr made = make_op(roll_op{-2, 1});
    const op_ptr read = make_op("Roll", 1, bytes_of_fields(*made));
    CHECK(read->equals(*made));
    CHECK_FALSE(make_op("Roll")->equals(*made));
}

TEST_CASE("bitcast: the same bytes") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({1.f, -2.f});
    static_assert(std::is_same_v<decltype(bitcast<std::uint8_t>(x)), tensor<std::uint8_t, 2, 4>>);
    CHECK(op_test::list(s.run(bitcast<int>(x))) == std::vector<int>{0x3f800000, static_cast<int>(0xc0000000u)});
    CHECK(op_test::list(s.run(bitcast<float>(bitcast<std::uint8_t>(x)))) == std::vector<float>{1, -2});
    CHECK(op_test::difference<float>(s.run(bitcast<float>(any_tensor(bitcast<std::uint8_t>(x)))), {2}, {1, -2}) == "");
    CHECK_THROWS_WITH(bitcast<double>(any_tensor(constant({1.f, 2.f, 3.f}))),
                      contains("bitcast: the last axis must hold the parts of one element (to float64)"));
    CHECK_THROWS_WITH(bitcast<float>(any_tensor(constant({"text"}))), contains("elements of a fixed size"));
}

TEST_CASE("meshgrid: coordinates of the points of a grid") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({1.f, 2.f, 3.f});
    const tensor y = constant({10.f, 20.f});
    const auto [xs, ys] = meshgrid(x, y);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(xs)>, tensor<float, 2, 3>>);
    CHECK(op_test::list(s.run(xs)) == std::vector<float>{1, 2, 3, 1, 2, 3});
    CHECK(op_test::list(s.run(ys)) == std::vector<float>{10, 10, 10, 20, 20, 20});
    const auto [is, js] = meshgrid(matrix_indexing, x, y);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(js)>, tensor<float, 3, 2>>);
    CHECK(op_test::list(s.run(is)) == std::vector<float>{1, 1, 2, 2, 3, 3});
    CHECK(op_test::list(s.run(js)) == std::vector<float>{10, 20, 10, 20, 10, 20});
    const auto [d] = gradients(xs * ys, y);
    CHECK(op_test::list(s.run(d)) == std::vector<float>{6, 6});
}

TEST_CASE("meshgrid: of tensors whose type is known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32);
    const tensor y = constant({10.f, 20.f});
    const feed_value at = feed(x, std::vector<float>{1, 2, 3});
    const auto [xs, ys] = meshgrid(x, any_tensor(y));
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(xs)>, any_tensor>);
    CHECK(op_test::difference<float>(s.run(xs, at), {2, 3}, {1, 2, 3, 1, 2, 3}) == "");
    CHECK(op_test::difference<float>(s.run(ys, at), {2, 3}, {10, 10, 10, 20, 20, 20}) == "");
    const auto [is, js] = meshgrid(matrix_indexing, x, y); // beside a typed one
    CHECK(op_test::difference<float>(s.run(is, at), {3, 2}, {1, 1, 2, 2, 3, 3}) == "");
    CHECK(op_test::list(s.run(js, at)) == std::vector<float>{10, 20, 10, 20, 10, 20});
    const any_tensor d = gradients(xs * ys, y)[0];
    CHECK(op_test::difference<float>(s.run(d, at), {2}, {6, 6}) == "");
    CHECK_THROWS_WITH(meshgrid(any_tensor(constant({{1.f}})), y),
                      contains("meshgrid: a tensor of rank 1 is expected, not of rank 2"));
}

TEST_CASE("dynamic_partition, dynamic_stitch: apart and together again") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 2> x("x");
    placeholder<int, dyn> ids("ids");
    const auto [even, odd] = dynamic_partition<2>(x, ids);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(even)>, tensor<double, dyn, 2>>);
    const xt::xtensor<double, 2> at{{1, 2}, {3, 4}, {5, 6}};
    const feed_value f1 = feed(x, at);
    const feed_value f2 = feed(ids, std::vector<int>{1, 0, 1});
    using doubles = std::vector<double>;
    CHECK(op_test::list(s.run(even, f1, f2)) == doubles{3, 4});
    CHECK(op_test::list(s.run(odd, f1, f2)) == doubles{1, 2, 5, 6});
    const auto [d] = gradients(odd * odd, x);
    CHECK(op_test::list(s.run(d, f1, f2)) == doubles{2, 4, 0, 0, 10, 12});
    const auto places = dynamic_partition(range(0, 3), ids, 2);
    const std::vector<any_tensor> by{places[0], places[1]}, parts{even, odd};
    const auto again = dynamic_stitch(by, parts);
    CHECK(op_test::list(s.run(again, f1, f2)) == doubles{1, 2, 3, 4, 5, 6});
    CHECK(op_test::list(s.run(dynamic_partition<2>(x, {1, 0, 1})[1], f1)) == doubles{1, 2, 5, 6}); // ids of the host
    CHECK(op_test::difference<double>(s.run(any_tensor(dynamic_partition(any_tensor(x), {1, 0, 1}, 2)[0]), f1), {1, 2},
                                      {3, 4}) == "");
    CHECK_THROWS_WITH(s.run(even, f1, feed(ids, std::vector<int>{1, 2, 0})),
                      contains("dynamic_partition: partition id 2 at [1] is outside [0, 2)"));
    CHECK_THROWS_WITH(s.run(even, f1, feed(ids, std::vector<int>{1})),
                      contains("the ids must have the extents of the tensor's first axes"));
    CHECK_THROWS_WITH(dynamic_partition(x, ids, 0), contains("there are 1 to 65536 parts, not 0"));
    CHECK_THROWS_WITH(dynamic_partition(x, ids, index_t(1) << 40), contains("there are 1 to 65536 parts, not 10995"));
    const auto cells = dynamic_partition<2>(constant({{1, 2}, {3, 4}}), constant({{0, 1}, {1, 0}}));
    CHECK(op_test::list(s.run(cells[1])) == std::vector<int>{2, 3});

    // extents that only the run knows, slices without elements, one id for all
    placeholder<double, dyn, dyn, dyn> open("open");
    placeholder<int, dyn, dyn> two_axes("two_axes");
    const auto some = dynamic_partition<2>(open, two_axes);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(some[0])>, tensor<double, dyn, dyn>>);
    const xt::xtensor<int, 2> by_cell{{1, 0}};
    const xt::xtensor<double, 3> cell_values{{{1, 2}, {3, 4}}};
    CHECK(op_test::list(s.run(some[1], feed(open, cell_values), feed(two_axes, by_cell))) == doubles{1, 2});
    const auto [by_open] = gradients(some[0] * some[0], open);
    CHECK(op_test::list(s.run(by_open, feed(open, cell_values), feed(two_axes, by_cell))) == doubles{0, 0, 6, 8});
    const auto narrow = s.run(some[0], feed(open, xt::xtensor<double, 3>({1, 2, 0})), feed(two_axes, by_cell));
    CHECK(narrow.shape(0) == 1);
    CHECK(narrow.shape(1) == 0);
    const auto whole = dynamic_stitch({any_tensor(two_axes)}, {any_tensor(open)});
    CHECK(op_test::difference<double>(s.run(whole, feed(open, cell_values), feed(two_axes, by_cell)), {2, 2},
                                      {3, 4, 1, 2}) == "");
    placeholder<double, dyn> row("row");
    const auto all_or_none = dynamic_partition<2>(row, constant(1));
    CHECK(s.run(all_or_none[1], feed(row, doubles{5, 6})).shape(0) == 1);
    CHECK(s.run(all_or_none[0], feed(row, doubles{5, 6})).size() == 0);

    const tensor a = constant({1., 2.});
    const tensor b = constant({{3., 4.}});
    const auto y =
        dynamic_stitch({any_tensor(constant({0, 3})), any_tensor(constant({{3, 1}}))}, {any_tensor(a), any_tensor(b)});
    CHECK(op_test::list(s.run(y)) == doubles{1, 4, 0, 3}); // the last one stays, and what has no slice is 0
    const auto db = gradients(std::vector<any_tensor>{y * y}, {b});
    CHECK(op_test::list(s.run(db[0])) == doubles{6, 8});
    CHECK_THROWS_WITH(s.run(dynamic_stitch({any_tensor(constant({-1, 3}))}, {any_tensor(a)})),
                      contains("id -1 at [0] is negative"));
    CHECK_THROWS_WITH(dynamic_stitch(std::vector<any_tensor>{}, std::vector<any_tensor>{}),
                      contains("dynamic_stitch: as many tensors of ids as of slices"));
    const any_tensor square = constant({{0, 1}}), two = constant({1., 2.}); // as a file may say
    CHECK_THROWS_WITH(apply_node(dynamic_stitch_op{}, {}, square, two, any_tensor(constant(2))),
                      contains("ids of rank 1 are expected"));
    CHECK_THROWS_WITH(apply_node(dynamic_stitch_op{}, {}, any_tensor(constant({0, 1})), two, square),
                      contains("the number of rows must be of rank 0"));
}

TEST_CASE("list_diff, invert_permutation") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto [values, places] = list_diff(constant({1, 2, 3, 2, 5}), constant({2, 4, 5}));
    CHECK(op_test::list(s.run(values)) == std::vector<int>{1, 3});
    CHECK(op_test::list(s.run(places)) == std::vector<int>{0, 2});
    CHECK(op_test::list(s.run(invert_permutation(constant({2, 0, 1})))) == std::vector<int>{1, 2, 0});
    CHECK(op_test::list(s.run(invert_permutation({2, 0, 1}))) == std::vector<int>{1, 2, 0});
    placeholder<int, dyn> order("order");
    const auto back = invert_permutation(order);
    CHECK_THROWS_WITH(s.run(back, feed(order, std::vector<int>{1, 1})),
                      contains("invert_permutation: 1 at [1] comes twice"));
    CHECK_THROWS_WITH(s.run(back, feed(order, std::vector<int>{0, 2})), contains("2 at [1] is outside [0, 2)"));
    CHECK_THROWS_WITH(list_diff(constant({1}), constant({1.f})), contains("list_diff: the dtypes differ"));
}

} // namespace test_ops_array_roll
