// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/bias_add.hpp>

#include <rill/ops/nn/relu6.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_bias_add {

TEST_CASE("bias_add: values and gradients, to second order") {
    const auto f = [](const auto& x, const auto& b) { return bias_add(x, b); }; // both of unknown extents
    const auto reference = [](const auto& x, const auto& b) {
        auto y = x;
        for (std::size_t i = 0; i < y.size(); ++i) y.storage()[i] += b(i % b.size());
        return y;
    };
    op_test::node<double, 2, 1>(f, reference, {{3, 4}, {4}});
    op_test::node<double, 4, 1>(f, reference, {{2, 3, 1, 5}, {5}}, {.order = 1});
    op_test::node<int, 2, 1>(f, reference, {{3, 4}, {4}});
    op_test::node<double, 2, 1>([](const auto& x, const auto& b) { return bias_add(x, b) * bias_add(2.0 * x, b); },
                                [&](const auto& x, const auto& b) {
                                    return xt::xarray<double>(reference(x, b) *
                                                              reference(xt::xarray<double>(2.0 * x), b));
                                },
                                {{3, 4}, {4}});
}

TEST_CASE("bias_add: where types show that it fits, it is an addition that fuses") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 3> x("x");
    placeholder<float, 3> b("b");
    using sum = decltype(bias_add(x, b));
    static_assert(std::is_same_v<sum, decltype(x + b)>);
    static_assert(std::is_same_v<extents_of<sum>, extents<dyn, 3>>);
    const auto y = relu6(bias_add(x, b));
    const auto got = s.run(y, feed(x, {{1.f, 2.f, 3.f}, {-9.f, 0.f, 9.f}}), feed(b, {1.f, 2.f, 0.5f}));
    CHECK(op_test::list(got) == std::vector<float>{2, 4, 3.5f, 0, 2, 6});
}

TEST_CASE("bias_add: what does not fit is refused at run time too") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 4> x("x");
    placeholder<float, dyn> b("b");
    const auto y = bias_add(x, b);
    static_assert(std::is_same_v<extents_of<decltype(bias_add(x, b))>, extents<dyn, 4>>);
    const auto table = op_test::make_array<float>({1, 4}, {1, 2, 3, 4});
    CHECK(op_test::difference<float>(
              op_test::run(s, sealed(y), {x, b}, {table, op_test::make_array<float>({4}, {1, 1, 1, 2})}), {1, 4},
              {2, 3, 4, 6}) == "");
    for (const index_t n : {1, 3}) // 1 would broadcast
        CHECK_THROWS_WITH(
            op_test::run(s, sealed(y), {x, b},
                         {table, op_test::make_array<float>({n}, std::vector<float>(static_cast<std::size_t>(n)))}),
            contains("bias_add: the bias differs from the tensor's last extent") && contains("[1, 4]"));
    const auto any = any_placeholder("any", dtype::float32, {2, 4}),
               line = any_placeholder("line", dtype::float32, {4}), ids = any_placeholder("ids", dtype::int32, {4});
    CHECK(bias_add(any, line).static_shape() == dims{2, 4});
    CHECK(bias_add(any, placeholder<float, 4>()).static_shape() == dims{2, 4});
    CHECK_THROWS_WITH(bias_add(line, line), contains("bias_add: the tensor must have two axes or more"));
    CHECK_THROWS_WITH(bias_add(any, any), contains("bias_add: the bias must be a vector"));
    CHECK_THROWS_WITH(bias_add(any, any_placeholder("three", dtype::float32, {3})),
                      contains("bias_add: the bias differs") && contains("[3]") && contains("[2, 4]"));
    CHECK_THROWS_WITH(bias_add(any, ids), contains("bias_add: the dtypes differ"));
}

TEST_CASE("bias_add: made by name") { CHECK(make_op("BiasFor")->equals(*make_op(bias_for_op{}))); }

} // namespace test_bias_add
