// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/squeeze.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_squeeze {

template <class X, int... Axes> using squeezed_type = decltype(squeeze<Axes...>(std::declval<const X&>()));
static_assert(std::is_same_v<squeezed_type<tensor<float, 1, 2, 1>, 0>, tensor<float, 2, 1>>);
static_assert(std::is_same_v<squeezed_type<tensor<float, 1, 2, 1>, 0, -1>, tensor<float, 2>>);
static_assert(std::is_same_v<squeezed_type<tensor<float, 1, 2, 1>>, tensor<float, 2>>);
static_assert(std::is_same_v<squeezed_type<tensor<float, dyn, dyn>, 1>, tensor<float, dyn>>);
static_assert(std::is_same_v<squeezed_type<tensor<int, 1, 1>>, tensor<int>>);
static_assert(extents_are_one<extents<1, 2>, 0> && !extents_are_one<extents<1, 2>, 1> &&
              extents_are_one<extents<dyn, 2>, 0>);
static_assert(extents_known<extents<1, 2>> && !extents_known<extents<1, dyn>>);

constexpr auto in_shape(std::vector<std::size_t> shape) {
    return [shape](auto x) {
        x.reshape(shape);
        return x;
    };
}

TEST_CASE("squeeze: values and gradients") {
    op_test::node<double, 3>([](const auto& x) { return squeeze<1>(x); }, in_shape({3, 4}), {{3, 1, 4}});
    op_test::node<double, 3>([](const auto& x) { return squeeze<0, -1>(x * x); },
                             [](const auto& x) { return in_shape({4})(xt::xarray<double>(x * x)); }, {{1, 4, 1}});
    op_test::node<float, 2>([](const auto& x) { return squeeze<1>(x); }, in_shape({0}), {{0, 1}});
    op_test::node<double, 2>([](const auto& x) { return squeeze(any_tensor(x)); }, in_shape({3}), {{3, 1}});
}

TEST_CASE("squeeze: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    CHECK_THROWS_AS(s.run(squeeze<1>(x), feed(x, xt::xtensor<float, 2>({2, 3}))), invalid_argument);
    CHECK_THROWS_WITH(s.run(squeeze<1>(x), feed(x, xt::xtensor<float, 2>({2, 3}))),
                      contains("squeeze: an extent to drop is not 1") && contains("[2, 3]"));
    CHECK_THROWS_WITH(squeeze(x, {2}), contains("squeeze: an axis is out of range"));
    CHECK_THROWS_WITH(squeeze(x, {0, -2}), contains("squeeze: an axis is named twice"));
    CHECK(s.run(squeeze(x, {-2}), feed(x, xt::xtensor<float, 2>({1, 3}))).shape(0) == 3);
    CHECK(s.run(squeeze(constant({{std::string("text")}}))) == "text");
}

} // namespace test_ops_array_squeeze
