// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/concat.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>

#if __has_include(<xtensor/generators/xbuilder.hpp>)
#include <xtensor/generators/xbuilder.hpp>
#else
#include <xtensor/xbuilder.hpp>
#endif

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_concat {

template <int Axis, class... X> using joined = decltype(concat<Axis>(std::declval<const X&>()...));
static_assert(std::is_same_v<joined<0, tensor<float, 2, 3>, tensor<float, 4, 3>>, tensor<float, 6, 3>>);
static_assert(
    std::is_same_v<joined<1, tensor<float, 2, 3>, tensor<float, dyn, 4>, tensor<float, 2, 1>>, tensor<float, 2, 8>>);
static_assert(std::is_same_v<joined<-1, tensor<int, dyn, 3>, tensor<int, dyn, dyn>>, tensor<int, dyn, dyn>>);
static_assert(std::is_same_v<joined<0, tensor<int, 3>>, tensor<int, 3>>);
static_assert(std::is_same_v<joined<0, tensor<int, 3>, any_tensor>, any_tensor>);
static_assert(!extents_beside_agree<0, extents<2, 3>, extents<2, 4>> &&
              extents_beside_agree<1, extents<2, 3>, extents<2, 4>>);
static_assert(!ranks_agree<extents<2>, extents<2, 3>>);

template <std::size_t Axis> auto reference() {
    return [](const auto&... x) {
        return xt::xarray<typename std::decay_t<decltype((x, ...))>::value_type>(
            xt::concatenate(xt::xtuple(x...), Axis));
    };
}

TEST_CASE("concat: values and gradients") {
    op_test::node<double, 2, 2>([](const auto&... x) { return concat<0>(x...); }, reference<0>(), {{2, 3}, {4, 3}});
    op_test::node<double, 2, 2, 2>([](const auto&... x) { return concat<-1>(x...); }, reference<1>(),
                                   {{2, 3}, {2, 1}, {2, 2}});
    op_test::node<double, 3, 3>(
        [](const auto& a, const auto& b) { return concat<1>(a * a, b * a); },
        [](const auto& a, const auto& b) { return xt::xarray<double>(xt::concatenate(xt::xtuple(a * a, a * b), 1)); },
        {{2, 3, 2}, {2, 3, 2}});
    op_test::node<float, 2, 2>([](const auto&... x) { return concat<0>(x...); }, reference<0>(), {{0, 3}, {2, 3}});
    op_test::node<int, 1, 1>([](const auto&... x) { return concat<0>(x...); }, reference<0>(), {{5}, {2}});
    op_test::node<double, 2>([](const auto& x) { return concat<0>(x); }, [](const auto& x) { return x; }, {{2, 3}});
    op_test::node<double, 2>(
        [](const auto& x) { return concat<1>(x, x * x, x); },
        [](const auto& x) { return xt::xarray<double>(xt::concatenate(xt::xtuple(x, x * x, x), 1)); }, {{2, 3}});
}

TEST_CASE("concat: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x"), y("y");
    const xt::xtensor<float, 2> a({2, 3}, 1.f), b({2, 4}, 2.f);
    const auto z = concat<0>(x, y);
    CHECK_THROWS_AS(s.run(z, feed(x, a), feed(y, b)), invalid_argument);
    CHECK_THROWS_WITH(s.run(z, feed(x, a), feed(y, b)), contains("concat: the extents beside the axis differ") &&
                                                            contains("[2, 3]") && contains("[2, 4]"));
    const any_tensor all = concat({x, y, x}, -1);
    CHECK(s.run(all, feed(x, a), feed(y, b)).shape() == dims{2, 10});
    CHECK(s.run(all, feed(x, a), feed(y, b)).elements<float>()[6] == 2.f);
    CHECK_THROWS_WITH(concat({x, y}, 2), contains("concat: the axis is out of range"));
    CHECK_THROWS_WITH(concat({x, tensor(constant({1.f}))}, 0), contains("concat: the ranks differ"));
    CHECK_THROWS_WITH(concat({x, tensor(constant({{1, 2}}))}, 0),
                      contains("concat: the dtypes differ") && contains("int32"));
    CHECK_THROWS_WITH(concat({}, 0), contains("concat: no tensors"));
    CHECK(s.run(concat<0>(constant({std::string("a")}), constant({std::string("b")})))(1) == "b");
    const auto line = std::source_location::current().line();
    CHECK(concat<0>(y, x).node()->where.line() == line + 1);
    CHECK(concat<0>(y, x, y, x).node()->where.line() == y.node()->where.line()); // of many operands nobody says where
}

TEST_CASE("concat: only some of the parts need a gradient") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x"), y("y");
    const auto [dy] = gradients(concat<0>(x, y) * concat<0>(y, x), y);
    const auto d = s.run(dy, feed(x, std::vector<double>{1, 2}), feed(y, std::vector<double>{3, 4}));
    CHECK(d(0) == 2.);
    CHECK(d(1) == 4.);
}

} // namespace test_ops_array_concat
