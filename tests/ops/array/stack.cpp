// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/array/stack.hpp>

#include <rill/ops/math/mul.hpp>

#include "ops/array/slice_test.hpp"

using namespace rill;

namespace test_ops_array_stack {

template <int Axis, class... X> using stacked = decltype(stack<Axis>(std::declval<const X&>()...));
static_assert(std::is_same_v<stacked<0, tensor<float, 3>, tensor<float, 3>>, tensor<float, 2, 3>>);
static_assert(std::is_same_v<stacked<-1, tensor<int, 3, dyn>, tensor<int, 3, 4>>, tensor<int, 3, 4, 2>>);
static_assert(std::is_same_v<stacked<0, tensor<float>, tensor<float>, tensor<float>>, tensor<float, 3>>);
static_assert(!all_shapes_agree<extents<2>, extents<2>, extents<3>>);

TEST_CASE("stack: values and gradients, to second order") {
    op_test::node<double, 2, 2>([](const auto& a, const auto& b) { return stack<1>(a, b * a); },
                                [](const auto& a, const auto& b) {
                                    xt::xarray<double> y(std::vector<std::size_t>{2, 2, 3});
                                    for (std::size_t i = 0; i < 2; ++i)
                                        for (std::size_t j = 0; j < 3; ++j) {
                                            y(i, 0, j) = a(i, j);
                                            y(i, 1, j) = a(i, j) * b(i, j);
                                        }
                                    return y;
                                },
                                {{2, 3}, {2, 3}});
    op_test::node<int, 0, 0>([](const auto& a, const auto& b) { return stack<0>(a, b); },
                             [](const auto& a, const auto& b) { return xt::xarray<int>{a(), b()}; }, {{}, {}});
}

TEST_CASE("stack: at run time") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor a = constant({1, 2}), b = constant({3, 4});
    CHECK(op_test::difference<int>(s.run(stack({a, b}, 1)), {2, 2}, {1, 3, 2, 4}) == "");
    CHECK_THROWS_WITH(stack({}, 0), contains("stack: no tensors"));
    const any_tensor any = a, longer = tensor(constant({1, 2, 3})), floating = tensor(constant({1.f, 2.f}));
    CHECK_THROWS_WITH(stack({a, longer}, 0), contains("stack: the shapes differ: int32 [2] and int32 [3]"));
    CHECK_THROWS_WITH(stack<0>(any, longer), contains("stack: the shapes differ: int32 [2] and int32 [3]"));
    CHECK_THROWS_WITH(stack<0>(a, floating), contains("stack: the dtypes differ: int32 [2] and float32 [2]"));
    CHECK_THROWS_WITH(stack<2>(any), contains("stack: the axis is out of range: 2 (int32 [2])"));
    CHECK_THROWS_WITH(stack({any}, -3), contains("stack: the axis is out of range: -3 (int32 [2])"));
}

} // namespace test_ops_array_stack

TEST_CASE("stack: stands where it is written, of many operands where the first one does") {
    const graph_scope here{graph()};
    placeholder<float, 2> x("x");
    const auto line = std::source_location::current().line();
    const auto y = stack<0>(x, x);
    CHECK(y.node()->where.line() == line + 1);
    CHECK(y.node()->inputs[0].from->where.line() == line + 1);
    placeholder<float> z("z");
    const auto many = stack<0>(z, z, z, z, z);
    CHECK(many.node()->where.line() == z.node()->where.line());
    // within a macro's arguments, compilers differ about the line
    const auto wrong = [&] { return stack<0>(any_tensor(x), any_tensor(constant(1.f))); };
    CHECK_THROWS_WITH(wrong(),
                      contains("stack: the shapes differ") && contains("stack.cpp:" + std::to_string(line + 8)));
}
