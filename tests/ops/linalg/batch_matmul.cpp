// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/linalg/batch_matmul.hpp>

#include <rill/ops/linalg/matmul.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_linalg_batch_matmul {

template <class A, class B> using product = decltype(matmul(std::declval<const A&>(), std::declval<const B&>()));
static_assert(std::is_same_v<product<tensor<float, 5, 2, 3>, tensor<float, 5, 3, 4>>, tensor<float, 5, 2, 4>>);
static_assert(
    std::is_same_v<product<tensor<float, dyn, 1, 2, 3>, tensor<float, 6, 3, 4>>, tensor<float, dyn, 6, 2, 4>>);
static_assert(std::is_same_v<product<tensor<float, 5, 2, 3>, tensor<float, 3, 4>>, tensor<float, 5, 2, 4>>);
static_assert(!batches_broadcast<extents<5, 2, 3>, extents<4, 3, 2>> &&
              batches_broadcast<extents<5, 2, 3>, extents<1, 3, 2>>);

/// Batches of rank 3 at most, one of which may stretch.
template <class X> X products(const X& a, const X& b) {
    const bool deep_a = a.dimension() == 3, deep_b = b.dimension() == 3;
    const std::size_t na = deep_a ? a.shape(0) : 1, nb = deep_b ? b.shape(0) : 1, n = std::max(na, nb);
    const std::size_t m = a.shape(a.dimension() - 2), k = a.shape(a.dimension() - 1), w = b.shape(b.dimension() - 1);
    X y(std::vector<std::size_t>{n, m, w}, 0);
    for (std::size_t p = 0; p < n; ++p)
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < w; ++j)
                for (std::size_t l = 0; l < k; ++l)
                    y(p, i, j) +=
                        (deep_a ? a(na == 1 ? 0 : p, i, l) : a(i, l)) * (deep_b ? b(nb == 1 ? 0 : p, l, j) : b(l, j));
    return y;
}

constexpr auto f = [](const auto& a, const auto& b) { return matmul(a, b); };
constexpr auto reference = [](const auto& a, const auto& b) { return products(a, b); };

TEST_CASE("batch_matmul: left matrices that lie one behind the other are one where the right one stays") {
    const auto together = [](const dims& a, const dims& b) {
        return detail::products_together(a, b, rules::batch_matmul(a, b).shape);
    };
    CHECK(together({5, 2, 3}, {3, 4}) == 5);
    CHECK(together({5, 2, 3}, {1, 3, 4}) == 5);
    CHECK(together({7, 5, 2, 3}, {7, 1, 3, 4}) == 5);
    CHECK(together({7, 5, 2, 3}, {1, 1, 3, 4}) == 35);
    CHECK(together({7, 1, 2, 3}, {1, 5, 3, 4}) == 1);
    CHECK(together({1, 2, 3}, {5, 3, 4}) == 1);
    CHECK(together({2, 3}, {5, 3, 4}) == 1);
    CHECK(together({0, 2, 3}, {3, 4}) == 1);
    const graph_scope here{graph()};
    const placeholder<float, 2, 3, 5, 33> a("a");
    const placeholder<float, 2, 1, 33, 20> b("b");
    const placeholder<float, 33, 20> w("w");
    xt::xtensor<float, 4> at({2, 3, 5, 33}), bt({2, 1, 33, 20});
    for (std::size_t i = 0; i < at.size(); ++i) at.flat(i) = static_cast<float>(i % 11) - 5;
    for (std::size_t i = 0; i < bt.size(); ++i) bt.flat(i) = static_cast<float>(i % 7) - 3;
    const auto both = op_test::list(session().run(matmul(a, b), feed(a, at), feed(b, bt)));
    const auto one = [&](std::ptrdiff_t p) { // of small whole numbers every sum is exact
        xt::xtensor<float, 2> right({33, 20});
        std::copy_n(bt.begin() + 660 * p, 660, right.begin());
        return op_test::list(session().run(matmul(reshape<30, 33>(a), w), feed(a, at), feed(w, right)));
    };
    const auto first = one(0), second = one(1);
    CHECK(std::equal(both.begin(), both.begin() + 300, first.begin()));
    CHECK(std::equal(both.begin() + 300, both.end(), second.begin() + 300));
}

TEST_CASE("batch_matmul: values and gradients, to second order, of batches that stretch too") {
    op_test::node<double, 3, 3>(f, reference, {{3, 2, 4}, {3, 4, 2}});
    op_test::node<double, 3, 3>(f, reference, {{1, 2, 3}, {4, 3, 2}});
    op_test::node<double, 3, 2>(f, reference, {{3, 2, 3}, {3, 2}});
    op_test::node<float, 3, 2>(f, reference, {{2, 3, 4}, {4, 0}});
    op_test::node<double, 2, 3>(f, reference, {{2, 3}, {2, 3, 1}});
    op_test::node<float, 3, 3>(f, reference, {{2, 33, 40}, {2, 40, 35}}, {.order = 0, .ulps = 4096});
    op_test::node<int, 3, 3>(f, reference, {{2, 3, 4}, {2, 4, 5}});
    op_test::node<float, 3, 3>(f, reference, {{0, 3, 4}, {0, 4, 5}});
    op_test::node<float, 3, 3>(f, reference, {{2, 3, 0}, {2, 0, 5}});
}

TEST_CASE("batch_matmul: read transposed") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto a = any_placeholder("a", dtype::float64), b = any_placeholder("b", dtype::float64);
    const any_tensor y = apply_node(batch_matmul_op{true, true}, {}, a, b);
    const auto at = op_test::point_array<double>({-1, 1}, {2, 3, 2}),
               by = op_test::point_array<double>({-1, 1}, {2, 4, 3}, 1);
    op_test::gradient_check{s, {a, b}, {at, by}}.check(y, 2);
    const auto at_t = op_test::run(s, apply_node(transpose_op{{0, 2, 1}}, {}, a), {a}, {at}),
               by_t = op_test::run(s, apply_node(transpose_op{{0, 2, 1}}, {}, b), {b}, {by});
    const auto plain = op_test::run(s, apply_node(batch_matmul_op{}, {}, a, b), {a, b}, {at_t, by_t});
    CHECK(op_test::far_apart(op_test::reals(op_test::run(s, y, {a, b}, {at, by})), op_test::reals(plain), 1e-14) == "");
}

TEST_CASE("batch_matmul: what does not fit") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const auto a = any_placeholder("a", dtype::float32, {2, 3, 4}), b = any_placeholder("b", dtype::float32, {3, 4, 5}),
               c = any_placeholder("c", dtype::float32, {2, 5, 5}), v = any_placeholder("v", dtype::float32, {4});
    CHECK_THROWS_WITH(matmul(a, b), contains("matmul: the batches do not broadcast") && contains("[3, 4, 5]"));
    CHECK_THROWS_WITH(matmul(a, c), contains("matmul: the inner extents differ"));
    CHECK_THROWS_WITH(matmul(a, v), contains("matmul: both operands must be matrices"));
    const op_ptr made = make_op(batch_matmul_op{false, true});
    CHECK(make_op("BatchMatMulV2", 1, bytes_of_fields(*made))->equals(*made));
}

} // namespace test_ops_linalg_batch_matmul
