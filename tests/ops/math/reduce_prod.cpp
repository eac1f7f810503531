// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/reduce_prod.hpp>

#include "ops/reduction.hpp"

using namespace rill;

namespace test_reduce_prod {
struct op {
    template <int... Axes> static auto run(const auto& x, auto... keep) { return reduce_prod<Axes...>(x, keep...); }
    template <class T> static T of(const std::vector<T>& v) {
        T p = 1;
        for (const T x : v) p = static_cast<T>(p * x);
        return p;
    }
};
} // namespace test_reduce_prod

TEST_CASE("reduce_prod: values") {
    static_assert(op_test::reduced_types_are_right<test_reduce_prod::op>());
    op_test::reduction_values<test_reduce_prod::op, float>({0.99, 1.01}, 4096);
    op_test::reduction_values<test_reduce_prod::op, double>({0.99, 1.01}, 4096);
}
TEST_CASE("reduce_prod: gradient") {
    op_test::reduction_gradients<test_reduce_prod::op>({.in = {{0.5, 1.5}}, .order = 2});
}
TEST_CASE("reduce_prod: refusals") { op_test::reduction_refusals<test_reduce_prod::op>("reduce_prod"); }

TEST_CASE("reduce_prod: the gradient where elements are 0, and integers") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn, 3> x("x");
    const auto [dx] = gradients(reduce_prod<1>(x), x);
    const xt::xtensor<double, 2> at{{2, 3, 4}, {0, 3, 4}, {0, 0, 4}};
    CHECK(op_test::list(s.run(dx, feed(x, at))) == std::vector<double>{12, 8, 6, 12, 0, 0, 0, 0, 0});
    CHECK(s.run(reduce_prod(constant({2, 3, 7}))) == 42);
    placeholder<float, dyn> f("f");
    const auto [df] = gradients(reduce_prod(f), f);
    const auto slopes = [&](const std::vector<float>& v) { return op_test::list(s.run(df, feed(f, v))); };
    CHECK(slopes({1e-30f, 1e-30f, 1})[0] == 1e-30f); // though the product is 0
    CHECK(slopes({1e25f, 1e25f, 1e-25f})[1] == Approx(1));
    const float inf = std::numeric_limits<float>::infinity();
    CHECK(slopes({1, inf, 2}) == std::vector<float>{inf, 2, inf});
    placeholder<double, dyn> z("z");
    for (const auto& v : std::vector<std::vector<double>>{{0, 2, 5}, {0, 0, 3}, {0, 0, 0}, {2, 0, 3}})
        op_test::gradient_check{s, {z}, {op_test::make_array<double>({3}, v)}}.check(reduce_prod(z), 2);
    placeholder<double, 2, 2> square("square");
    const auto two = op_test::make_array<double>({2, 2}, {0, 2, 3, 0});
    op_test::gradient_check{s, {square}, {two}}.check(reduce_prod(square), 2);
    op_test::gradient_check{s, {square}, {two}}.check(reduce_prod<0>(square), 2);
    const any_tensor any = any_placeholder("any", dtype::float64);
    const auto cube = op_test::point_array<double>({0.5, 1.5}, {2, 3, 2});
    op_test::gradient_check{s, {any}, {cube}}.check(reduce_prod(any), 2); // of a rank that the run knows
    op_test::gradient_check{s, {any}, {cube}}.check(reduce_prod(any, {0, -1}), 2);
    op_test::gradient_check{s, {any}, {cube}}.check(reduce_prod(any, {1}, keep_dims), 1);
    const op_ptr made = tensor(reduce_prod<1>(x)).node()->op;
    CHECK(make_op("Prod", 1, bytes_of_fields(*made))->equals(*made));
}

TEST_CASE("reduce_prod: complex numbers, and their gradients") {
    using C = std::complex<double>;
    detail::require_gradient_kernels<C>();
    const op_test::node_options o{.in = {{0.5, 1.5}}};
    op_test::check_axes<test_reduce_prod::op, C, 2>({{2, 3}}, o);
    op_test::check_axes<test_reduce_prod::op, C, 2, 0>({{3, 2}}, o);
}
