// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/matmul.hpp>

#include <rill/ops/math/add.hpp>
#include <rill/ops/math/reduce_sum.hpp>

#include "ops/harness.hpp"

using namespace rill;

TEST_CASE("matmul: what it costs") {
    const std::vector<tensor_type> in{{dtype::float32, {5, 3}}, {dtype::float32, {5, 7}}},
        out{{dtype::float32, {3, 7}}};
    const op_cost cost = make_op(matmul_op{.transpose_a = true})->cost(in, out);
    CHECK(cost.flops == 2 * 3 * 7 * 5);
    CHECK(cost.bytes == 4 * (15 + 35 + 21));
    const std::vector<tensor_type> batch{{dtype::float32, {9, 3, 5}}, {dtype::float32, {5, 7}}},
        product{{dtype::float32, {9, 3, 7}}};
    CHECK(make_op(batch_matmul_op{})->cost(batch, product).flops == 9 * 2 * 3 * 7 * 5);
}

namespace test_matmul {

constexpr auto plain = [](const auto& a, const auto& b) { return matmul(a, b); };
constexpr auto left = [](const auto& a, const auto& b) { return matmul(transpose(a), b); };
constexpr auto right = [](const auto& a, const auto& b) { return matmul(a, transpose<1, 0>(b)); };
constexpr auto both = [](const auto& a, const auto& b) { return matmul(transpose<-1, 0>(a), transpose(b)); };

/// Row by column, in long double where that is wider.
template <bool Ta, bool Tb> struct naive {
    template <class T> xt::xarray<T> operator()(const xt::xarray<T>& a, const xt::xarray<T>& b) const {
        const std::size_t m = a.shape(Ta ? 1 : 0), k = a.shape(Ta ? 0 : 1), n = b.shape(Tb ? 0 : 1);
        xt::xarray<T> c(std::vector<std::size_t>{m, n});
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < n; ++j) {
                std::conditional_t<std::is_floating_point_v<T>, long double, T> sum(0);
                for (std::size_t p = 0; p < k; ++p) {
                    const T x = a.storage()[Ta ? p * m + i : i * k + p], y = b.storage()[Tb ? j * k + p : p * n + j];
                    sum += x * y;
                }
                c.storage()[i * n + j] = static_cast<T>(sum);
            }
        return c;
    }
};

template <class T> void values(const op_test::node_options& o) {
    for (const auto& [m, k, n] : {std::tuple<index_t, index_t, index_t>{1, 1, 1},
                                  {2, 3, 4},
                                  {1, 17, 9},
                                  {16, 16, 16},
                                  {33, 65, 17},
                                  {130, 70, 90},
                                  {3, 0, 2},
                                  {0, 3, 2}}) {
        INFO("m " << m << ", k " << k << ", n " << n);
        op_test::node<T, 2, 2>(plain, naive<false, false>(), {{m, k}, {k, n}}, o);
        op_test::node<T, 2, 2>(left, naive<true, false>(), {{k, m}, {k, n}}, o);
        op_test::node<T, 2, 2>(right, naive<false, true>(), {{m, k}, {n, k}}, o);
        op_test::node<T, 2, 2>(both, naive<true, true>(), {{k, m}, {n, k}}, o);
    }
}

const matmul_op& op_of(const any_tensor& t) { return *static_cast<const matmul_op*>(t.node()->op->attributes()); }

} // namespace test_matmul

TEST_CASE("matmul: values, either side transposed") {
    test_matmul::values<float>({.in = {{0.5, 2}, {0.5, 2}}, .order = 0});
    test_matmul::values<double>({.in = {{0.5, 2}, {0.5, 2}}, .order = 0});
    test_matmul::values<int>({.order = 0});
    test_matmul::values<std::complex<double>>({.in = {{0.5, 2}, {0.5, 2}}, .order = 0, .ulps = 512});
}

TEST_CASE("matmul: gradient, either side transposed") {
    using namespace test_matmul;
    const op_test::node_options o{.in = {{-1, 1}, {-1, 1}}, .order = 2, .ulps = 1e3};
    op_test::node<double, 2, 2>(plain, naive<false, false>(), {{2, 3}, {3, 2}}, o);
    op_test::node<double, 2, 2>(left, naive<true, false>(), {{3, 2}, {3, 2}}, o);
    op_test::node<double, 2, 2>(right, naive<false, true>(), {{2, 3}, {2, 3}}, o);
    op_test::node<double, 2, 2>(both, naive<true, true>(), {{3, 2}, {2, 3}}, o);
}

TEST_CASE("matmul: gradient of a matrix by itself, of expressions and of complex numbers") {
    const op_test::node_options o{.in = {{-1, 1}, {-1, 1}}, .order = 2, .ulps = 1e6};
    op_test::node<double, 2>([](const auto& a) { return matmul(a, transpose(a)); },
                             [](const xt::xarray<double>& a) { return test_matmul::naive<false, true>()(a, a); },
                             {{2, 3}}, o);
    op_test::node<double, 2>([](const auto& a) { return matmul(a + 1.0, a * a); },
                             [](const xt::xarray<double>& a) {
                                 xt::xarray<double> more = a, squares = a;
                                 for (auto& v : more.storage()) v += 1;
                                 for (auto& v : squares.storage()) v *= v;
                                 return test_matmul::naive<false, false>()(more, squares);
                             },
                             {{3, 3}}, o);
    const auto complex_pair = [](const auto& f, const auto& reference) {
        detail::require_gradient_kernels<std::complex<double>>();
        op_test::node<std::complex<double>, 2, 2>(f, reference, {{2, 2}, {2, 2}},
                                                  {.in = {{-1, 1}, {-1, 1}}, .order = 2, .ulps = 1e6});
    };
    complex_pair(test_matmul::plain, test_matmul::naive<false, false>());
    complex_pair(test_matmul::left, test_matmul::naive<true, false>());
    complex_pair(test_matmul::right, test_matmul::naive<false, true>());
    complex_pair(test_matmul::both, test_matmul::naive<true, true>());
}

TEST_CASE("matmul: a transpose is folded into the product when it runs") {
    placeholder<float, dyn, 4> a("a");
    placeholder<float, dyn, 5> b("b");
    const tensor t = transpose(a);
    const auto y = matmul(t, b);
    static_assert(std::is_same_v<decltype(y), const tensor<float, 4, 5>>);
    const auto z = matmul(transpose(transpose(a)), transpose<1, 0>(a));
    const auto same = matmul(transpose<0, 1>(a), transpose<-1, -2>(a));
    const std::vector<float> av{1, 2, 3, 4, 5, 6, 7, 8}, bv(10, 1.f);
    const session s;
    const auto transposes = [&](const auto& fetch) {
        const auto [value, trace] = s.run_traced(fetch, feed(a, av), feed(b, bv));
        return std::count_if(trace.entries.begin(), trace.entries.end(),
                             [](const auto& e) { return e.op == "Transpose"; });
    };
    CHECK(transposes(y) == 0);
    CHECK(transposes(z) == 0);
    CHECK(transposes(same) == 0);
    CHECK(op_test::list(s.run(z, feed(a, av))) == std::vector<float>{30, 70, 70, 174});
    CHECK(op_test::list(s.run(same, feed(a, av))) == std::vector<float>{30, 70, 70, 174});
    // a transpose that is fetched too is still computed
    const auto [tv, yv] = s.run(std::tuple(t, y), feed(a, av), feed(b, bv));
    CHECK(op_test::list(tv) == std::vector<float>{1, 5, 2, 6, 3, 7, 4, 8});
    CHECK(yv(3, 4) == 12);
}

TEST_CASE("matmul: a transpose is an edge like any other") {
    placeholder<float, 2, 2> a("a"), b("b");
    const tensor t(transpose(a), "t");
    const auto y = matmul(t, b);
    const session s;
    const xt::xtensor<float, 2> one{{1, 0}, {0, 1}}, x{{1, 2}, {3, 4}};
    CHECK(op_test::list(s.run(y, feed(t, one), feed(b, x))) ==
          std::vector<float>{1, 2, 3, 4}); // fed, and not gone around
    const auto [d] = gradients(reduce_sum(y), t);
    CHECK(op_test::list(s.run(d, feed(a, x), feed(b, x))) == std::vector<float>{3, 7, 3, 7});
}

TEST_CASE("matmul: refusals") {
    placeholder<float, dyn, dyn> a("a"), b("b");
    const auto y = matmul(a, b);
    const session s;
    using op_test::point_array;
    CHECK_THROWS_AS(op_test::run(s, y, {a, b}, {point_array<float>({}, {2, 3}), point_array<float>({}, {4, 2})}),
                    invalid_argument);
    CHECK_THROWS_WITH(op_test::run(s, y, {a, b}, {point_array<float>({}, {2, 3}), point_array<float>({}, {4, 2})}),
                      contains("matmul: the inner extents differ") && contains("[2, 3]") && contains("[4, 2]"));
    const auto u = any_placeholder("u", dtype::float32, {2, 3}), v = any_placeholder("v", dtype::float32, {4, 2}),
               w = any_placeholder("w", dtype::float64, {3, 2}), line = any_placeholder("line", dtype::float32, {3});
    CHECK_THROWS_WITH(matmul(u, v),
                      contains("matmul: the inner extents differ") && contains("[2, 3]") && contains("[4, 2]"));
    CHECK_THROWS_WITH(matmul(u, w), contains("matmul: the dtypes differ"));
    CHECK_THROWS_WITH(matmul(u, line), contains("matmul: both operands must be matrices") && contains("[3]"));
    CHECK(matmul(transpose(u), transpose(v)).static_shape() == dims{3, 4});
}

TEST_CASE("matmul: what a refused call leaves behind") {
    const graph g;
    const graph_scope here(g);
    const tensor<float, dyn, dyn> a(any_placeholder("a", dtype::float32, {2, 3}));
    CHECK_THROWS_AS(matmul(a, a), invalid_argument);
    CHECK(g.size() == 1);
    CHECK_THROWS_AS(matmul(a + a, a), invalid_argument); // its operand was sealed before
    CHECK(g.size() == 2);
    const auto y = matmul(a + a, transpose(a)); // the next call shares it, and has the name that was refused
    CHECK(g.size() == 4);
    CHECK(any_tensor(y).node()->name == "matmul");
    CHECK(session(g).run(y, feed(a, {{1.f, 0.f, 2.f}, {0.f, 1.f, 0.f}}))(0, 0) == 10.f);
}
