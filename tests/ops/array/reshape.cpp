// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/reshape.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_array_reshape {

constexpr auto in_shape(std::vector<std::size_t> shape) {
    return [shape](auto x) {
        x.reshape(shape);
        return x;
    };
}

template <class X, index_t... D> using reshaped = decltype(reshape<D...>(std::declval<const X&>()));
static_assert(std::is_same_v<reshaped<tensor<float, 2, 6>, dyn, 4>, tensor<float, 3, 4>>);
static_assert(std::is_same_v<reshaped<tensor<int, dyn, 6>, dyn, 2, 3>, tensor<int, dyn, 2, 3>>);
static_assert(std::is_same_v<reshaped<tensor<float, 1, 1>>, tensor<float>>);
static_assert(std::is_same_v<reshaped<tensor<float>, 1>, tensor<float, 1>>);
static_assert(std::is_same_v<reshaped<tensor<float, 0, 5>, dyn, 5>, tensor<float, 0, 5>>);
static_assert(std::is_same_v<reshaped<any_tensor, 2>, any_tensor>);
static_assert(!sizes_agree<extents<2, 6>, extents<3, 5>>);
static_assert(!sizes_agree<extents<dyn, 6>, extents<4>>, "no number of rows of 6 makes 4");
static_assert(!sizes_agree<extents<2, 6>, extents<dyn, 5>>);
static_assert(sizes_agree<extents<dyn, 6>, extents<0>> && sizes_agree<extents<dyn, 6>, extents<dyn, 4>>);

TEST_CASE("reshape: values and gradients") {
    op_test::node<double, 2>([](const auto& x) { return reshape<dyn, 4>(x); }, in_shape({6, 4}), {{3, 8}});
    op_test::node<double, 3>([](const auto& x) { return reshape<24>(x); }, in_shape({24}), {{2, 3, 4}});
    op_test::node<double, 1>([](const auto& x) { return reshape<2, dyn, 3>(x * x); },
                             [](const auto& x) { return in_shape({2, 2, 3})(xt::xarray<double>(x * x)); }, {{12}});
    op_test::node<float, 2>([](const auto& x) { return reshape<dyn, 3>(x); }, in_shape({0, 3}), {{0, 3}});
    op_test::node<int, 1>([](const auto& x) { return reshape<>(x); }, in_shape({}), {{1}});
}

TEST_CASE("reshape: gradients where shapes are known") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 4> a;
    placeholder<double, 0, dyn> empty;
    placeholder<double, 2, 3> b;
    const auto [da] = gradients(reshape<2, dyn>(a) * reshape<2, 3>(b + b), a);
    CHECK(da.node()->op->kernel_name() == std::string(reshape_op::name)); // one dynamic extent: no need of the input
    const auto [db] = gradients(reshape<6>(b) * 2.0, b);
    const auto [de] = gradients(reshape<dyn>(empty), empty);
    CHECK(de.node()->op->kernel_name() == std::string(reshape_like_op::name)); // 0 times anything
    const xt::xtensor<double, 2> at{{1, 2, 3}, {4, 5, 6}};
    CHECK(s.run(db, feed(b, at))(1, 2) == 2.);
    CHECK(s.run(de, feed(empty, xt::xtensor<double, 2>({0, 3}))).shape(1) == 3);
}

TEST_CASE("reshape: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    const auto y = reshape<dyn, 4>(x);
    const auto z = reshape(any_tensor(x), {2, dyn});
    const xt::xtensor<float, 2> at{{1, 2, 3, 4}, {5, 6, 7, 8}};
    const auto [value, trace] = s.run_traced(y, feed(x, at));
    CHECK(value(1, 3) == 8.f);
    CHECK(std::none_of(trace.entries.begin(), trace.entries.end(), // shares the memory
                       [](const auto& e) { return e.op == "Reshape"; }));
    CHECK(s.run(z, feed(x, at)).shape() == dims{2, 4});
    CHECK_THROWS_AS(s.run(y, feed(x, xt::xtensor<float, 2>({3, 3}))), invalid_argument);
    CHECK_THROWS_WITH(s.run(y, feed(x, xt::xtensor<float, 2>({3, 3}))),
                      contains("reshape: the sizes differ") && contains("[3, 3]"));
    CHECK_THROWS_WITH(reshape(x, {dyn, dyn}), contains("reshape: at most one extent may be dyn"));
    CHECK_THROWS_WITH(reshape(tensor(constant({1, 2, 3})), {2, 2}),
                      contains("reshape: the sizes differ") && contains("[3]"));
    CHECK_THROWS_WITH(reshape(x, {-2, 4}), contains("reshape: an extent is negative"));
    CHECK_THROWS_WITH(reshape(x, dims{2, 2, 2, 2, 2, 2, 2, 2, 2}), contains("at most 8 extents"));
    constexpr index_t half = index_t(1) << 32; // half times half wraps to 0
    static_assert(!sizes_agree<extents<0>, extents<half, half>> && !sizes_agree<extents<half, half>, extents<0>>);
    static_assert(sizes_agree<extents<dyn, half, half>, extents<0>> &&
                  !sizes_agree<extents<dyn, half, half>, extents<8>>);
    CHECK_THROWS_WITH(reshape(tensor(constant(xt::xtensor<float, 1>({0}))), {half, half}),
                      contains("reshape: the sizes differ"));
}

TEST_CASE("reshape: of text, and of a variable that is written in the same step") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto text = reshape<2, 1>(constant({std::string("a"), std::string("b")}));
    CHECK(s.run(text)(1, 0) == "b");
    variable<float, 4> v("v", {1.f, 2.f, 3.f, 4.f});
    const auto square = reshape<2, 2>(v);
    const auto set = v.assign(v * 10.f);
    s.run(global_variables_initializer());
    const auto [was, is] = s.run(std::tuple(square, set));
    CHECK(was(1, 1) == 4.f);
    CHECK(is(3) == 40.f);
}

} // namespace test_ops_array_reshape
