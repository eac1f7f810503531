// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/sparse_softmax_cross_entropy.hpp>

#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_sparse_softmax_cross_entropy {

template <class I> std::vector<I> classes(std::size_t rows, index_t columns) {
    std::vector<I> ids(rows);
    for (std::size_t i = 0; i < rows; ++i) ids[i] = static_cast<I>((i * 7 + 3) % static_cast<std::size_t>(columns));
    return ids;
}
constexpr auto reference = [](const auto& x) {
    using T = typename std::decay_t<decltype(x)>::value_type;
    xt::xarray<T> out(std::vector<std::size_t>{x.shape(0)});
    const auto ids = classes<int>(x.shape(0), static_cast<index_t>(x.shape(1)));
    for (std::size_t row = 0; row < x.shape(0); ++row) {
        const auto right = static_cast<long double>(x(row, static_cast<std::size_t>(ids[row])));
        const auto at = [&](std::size_t i) { return static_cast<long double>(x(row, i)) - right; };
        long double sum = 0;
        for (std::size_t i = 0; i < x.shape(1); ++i) sum += std::exp(at(i));
        out(row) = static_cast<T>(std::log(sum));
    }
    return out;
};

TEST_CASE("sparse_softmax_cross_entropy: values") {
    for (const index_t columns : {1, 3, 10, 33, 500})
        for (const std::size_t rows : {1u, 2u, 16u, 37u}) {
            INFO(rows << " rows of " << columns);
            const dims shape{static_cast<index_t>(rows), columns};
            const auto f = [&](const auto& x) {
                return sparse_softmax_cross_entropy(x, constant(classes<int>(rows, columns)));
            };
            const auto wide = [&](const auto& x) {
                return sparse_softmax_cross_entropy(x, constant(classes<std::int64_t>(rows, columns)));
            };
            const op_test::node_options o{
                .in = {{-4, 4}}, .order = columns * static_cast<index_t>(rows) < 20 ? 2 : 0, .ulps = 500};
            op_test::node<float, 2>(f, reference, {shape}, o);
            op_test::node<double, 2>(wide, reference, {shape}, o);
        }
    const auto none = [](const auto& x) { return sparse_softmax_cross_entropy(x, constant(std::vector<int>{})); };
    op_test::node<float, 2>(none, reference, {{0, 4}});
}

TEST_CASE("sparse_softmax_cross_entropy: gradients") {
    const auto mean = [](const auto& x) {
        return reduce_mean(sparse_softmax_cross_entropy(x * x, constant(classes<int>(3, 4))));
    };
    op_test::node<double, 2>(mean,
                             [](const auto& x) {
                                 double sum = 0;
                                 for (const double v : reference(xt::xarray<double>(x * x))) sum += v;
                                 return xt::xarray<double>(sum / 3);
                             },
                             {{3, 4}}, {.in = {{-1, 1}}, .order = 3});
    const xt::xtensor<int, 2> ids{{1, 0}, {2, 2}};
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, 2, 2, 3> cube;
    const auto loss = sparse_softmax_cross_entropy(cube, constant(ids));
    static_assert(std::is_same_v<std::remove_const_t<decltype(loss)>, tensor<double, 2, 2>>);
    op_test::gradient_check{s, {cube}, {op_test::point_array<double>({-2, 2}, {2, 2, 3})}}.check(loss, 2);
}

TEST_CASE("sparse_softmax_cross_entropy: types and refusals") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 10> logits("logits");
    placeholder<int, dyn> labels("labels");
    placeholder<std::int64_t, 32> some("some");
    static_assert(std::is_same_v<decltype(sparse_softmax_cross_entropy(logits, labels)), tensor<float, dyn>>);
    static_assert(std::is_same_v<decltype(sparse_softmax_cross_entropy(logits, some)), tensor<float, 32>>);
    static_assert(!rows_agree<extents<2, 3>, extents<3>> && rows_agree<extents<2, 3>, extents<dyn>>);
    const auto loss = sparse_softmax_cross_entropy(logits, labels);
    CHECK(loss.name() == "sparse_softmax_cross_entropy:0");
    const xt::xtensor<float, 2> at({3, 10}, 1.f);
    const auto run = [&](const std::vector<int>& ids) { return s.run(loss, feed(logits, at), feed(labels, ids)); };
    CHECK(run({0, 5, 9})(2) == Approx(std::log(10.f)));
    CHECK_THROWS_AS(run({0, 10, 9}), invalid_argument);
    CHECK_THROWS_WITH(run({0, 10, 9}), contains("sparse_softmax_cross_entropy: label 10 at [1] is outside [0, 10)"));
    CHECK_THROWS_WITH(run({0, 5, -1}), contains("label -1 at [2]"));
    CHECK_THROWS_WITH(run({0, 5}), contains("sparse_softmax_cross_entropy: the shapes of logits and labels differ") &&
                                       contains("[3, 10]") && contains("[2]"));
    CHECK_THROWS_WITH(sparse_softmax_cross_entropy(any_tensor(logits), any_tensor(logits)),
                      contains("the labels must be int32 or int64"));
    CHECK_THROWS_WITH(sparse_softmax_cross_entropy(any_tensor(labels), any_tensor(labels)),
                      contains("sparse_softmax_cross_entropy: it does not take int32"));
    placeholder<float, dyn> flat("flat");
    CHECK_THROWS_WITH(sparse_softmax_cross_entropy(any_tensor(flat), any_tensor(labels)),
                      contains("the labels must have one dimension less than the logits"));
}

TEST_CASE("sparse_softmax_cross_entropy: labels of the host") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{1.f, 2.f, 0.f}, {0.f, 0.f, 5.f}});
    const auto by_tensor = op_test::list(s.run(sparse_softmax_cross_entropy(x, constant({1, 2}))));
    CHECK(op_test::list(s.run(sparse_softmax_cross_entropy(x, {1, 2}))) == by_tensor);
    CHECK(op_test::difference<float>(s.run(any_tensor(sparse_softmax_cross_entropy(any_tensor(x), {1, 2}))), {2},
                                     by_tensor) == "");
    const tensor deep = constant({{{1.f, 2.f, 0.f}, {0.f, 0.f, 5.f}}});
    CHECK(op_test::list(s.run(sparse_softmax_cross_entropy(deep, xt::xtensor<int, 2>{{1, 2}}))) == by_tensor);
}

TEST_CASE("sparse_softmax_cross_entropy: sure of the truth, or of something else") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x");
    placeholder<int, dyn> labels("labels");
    const auto loss = sparse_softmax_cross_entropy(x, labels);
    const auto [dx] = gradients(loss, x);
    const xt::xtensor<float, 2> at{{1e30f, -1e30f}, {100.f, 0.f}};
    const auto [l, d] = s.run(std::tuple(loss, dx), feed(x, at), feed(labels, std::vector<int>{0, 1}));
    CHECK(l(0) == 0.f);
    CHECK(d(0, 0) == 0.f);
    CHECK(l(1) == Approx(100.f));
    CHECK(d(1, 1) == -1.f);
}

} // namespace test_ops_nn_sparse_softmax_cross_entropy
