// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/broadcast_to.hpp>

#include <rill/ops/array/shape.hpp>
#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_broadcast_to {

using slice_test::index;
using slice_test::picked;

template <class X, index_t... D> using stretched = decltype(broadcast_to<D...>(std::declval<const X&>()));
static_assert(std::is_same_v<stretched<tensor<float, 1, 3>, 4, 3>, tensor<float, 4, 3>>);
static_assert(std::is_same_v<stretched<tensor<float, dyn, 3>, 2, dyn, dyn>, tensor<float, 2, dyn, 3>>);
static_assert(!stretches_to<extents<2>, 3> && !stretches_to<extents<2, 2>, 2> && stretches_to<extents<>, 2>);

TEST_CASE("broadcast_to: values and gradients, to second order") {
    const auto reference = [](const auto& x) {
        return picked(x, {2, 4, 3}, [](const index& i) { return index{0, i[2]}; });
    };
    op_test::node<double, 2>([](const auto& x) { return broadcast_to<2, 4, 3>(x); }, reference, {{1, 3}});
    op_test::node<double, 2>([](const auto& x) { return broadcast_to<2, 4, 3>(x * x); },
                             [&](const auto& x) { return reference(xt::xarray<double>(x * x)); }, {{1, 3}});
    op_test::node<int, 0>([](const auto& x) { return broadcast_to<3>(x); },
                          [](const auto& x) { return xt::xarray<int>(std::vector<std::size_t>{3}, x()); }, {{}});
    op_test::node<float, 1>([](const auto& x) { return broadcast_to<2, 0>(x); },
                            [](const auto&) { return xt::xarray<float>(std::vector<std::size_t>{2, 0}); }, {{1}});
}

TEST_CASE("broadcast_to: to a shape that the shapes of a run say") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x");
    placeholder<double, dyn, dyn> y("y");
    const auto z = broadcast_to(x, shape(y));
    static_assert(std::is_same_v<decltype(z), const tensor<double, dyn, dyn>>);
    const auto at = op_test::point_array<double>({-1, 1}, {3}), like = op_test::point_array<double>({-1, 1}, {2, 3});
    CHECK(op_test::run(s, z, {x, y}, {at, like}).shape() == dims{2, 3});
    op_test::gradient_check{s, {x, y}, {at, like}}.check(tensor(z * z * y), 2);
    CHECK_THROWS_WITH(op_test::run(s, z, {x, y}, {at, op_test::point_array<double>({-1, 1}, {2, 2})}),
                      contains("broadcast_to: the tensor does not stretch to that shape (asked for [2, 2])"));
}

TEST_CASE("broadcast_to: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32);
    const any_tensor y = broadcast_to(x, {2, 3});
    CHECK(op_test::difference<float>(s.run(y, feed(x, 5.f)), {2, 3}, std::vector<float>(6, 5)) == "");
    CHECK_THROWS_WITH(s.run(y, feed(x, std::vector<float>{1, 2})),
                      contains("broadcast_to: the tensor does not stretch to that shape") && contains("[2]"));
    CHECK(s.run(broadcast_to<2>(constant("a")))(1) == "a");
    const op_ptr made = make_op(broadcast_to_op{{2, 3}});
    CHECK(make_op("BroadcastTo", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_array_broadcast_to
