// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/expand_dims.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_expand_dims {

template <class X, int Axis> using expanded = decltype(expand_dims<Axis>(std::declval<const X&>()));
static_assert(std::is_same_v<expanded<tensor<float, 2, 3>, 0>, tensor<float, 1, 2, 3>>);
static_assert(std::is_same_v<expanded<tensor<float, 2, dyn>, 1>, tensor<float, 2, 1, dyn>>);
static_assert(std::is_same_v<expanded<tensor<float, 2, 3>, -1>, tensor<float, 2, 3, 1>>);
static_assert(std::is_same_v<expanded<tensor<float, 2, 3>, -3>, tensor<float, 1, 2, 3>>);
static_assert(std::is_same_v<expanded<tensor<int>, 0>, tensor<int, 1>>);
static_assert(axis_fits<extents<2, 3>, 2> && !axis_fits<extents<2, 3>, 3> && !axis_fits<extents<2, 3>, -4>);
static_assert(!rank_may_grow<extents<1, 1, 1, 1, 1, 1, 1, 1>>);

constexpr auto in_shape(std::vector<std::size_t> shape) {
    return [shape](auto x) {
        x.reshape(shape);
        return x;
    };
}

TEST_CASE("expand_dims: values and gradients") {
    op_test::node<double, 2>([](const auto& x) { return expand_dims<1>(x); }, in_shape({3, 1, 4}), {{3, 4}});
    op_test::node<double, 2>([](const auto& x) { return expand_dims<-1>(x * x); },
                             [](const auto& x) { return in_shape({3, 4, 1})(xt::xarray<double>(x * x)); }, {{3, 4}});
    op_test::node<int, 0>([](const auto& x) { return expand_dims<0>(x); }, in_shape({1}), {{}});
}

TEST_CASE("expand_dims: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const any_tensor x = any_placeholder("x", dtype::float32);
    const any_tensor y = expand_dims(x, -1);
    CHECK(s.run(y, feed(x, std::vector<float>{1.f, 2.f})).shape() == dims{2, 1});
    CHECK_THROWS_WITH(expand_dims(tensor(constant({1, 2})), 2),
                      contains("expand_dims: the axis is out of range") && contains("[2]"));
    CHECK(s.run(expand_dims<0>(constant("text")))(0) == "text");
    const auto d = gradients({expand_dims(x, 0)}, {x}); // the rank is not known when the graph is built
    CHECK(s.run(d[0], feed(x, std::vector<float>{1.f, 2.f})).shape() == dims{2});
}

} // namespace test_ops_array_expand_dims
