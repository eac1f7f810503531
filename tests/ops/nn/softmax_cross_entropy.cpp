// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/softmax_cross_entropy.hpp>

#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_softmax_cross_entropy {

constexpr auto f = [](const auto& logits, const auto& labels) { return softmax_cross_entropy(logits, labels); };
constexpr auto reference = [](const auto& x, const auto& labels) {
    using T = typename std::decay_t<decltype(x)>::value_type;
    std::vector<std::size_t> shape(x.shape().begin(), x.shape().end() - 1);
    xt::xarray<T> out(shape);
    const std::size_t n = x.shape(x.dimension() - 1);
    for (std::size_t row = 0; row < out.size(); ++row) {
        long double sum = 0, loss = 0;
        for (std::size_t i = 0; i < n; ++i)
            sum += std::exp(static_cast<long double>(x.storage()[row * n + i]) -
                            static_cast<long double>(x.storage()[row * n]));
        for (std::size_t i = 0; i < n; ++i)
            loss -= static_cast<long double>(labels.storage()[row * n + i]) *
                    (static_cast<long double>(x.storage()[row * n + i]) -
                     static_cast<long double>(x.storage()[row * n]) - std::log(sum));
        out.storage()[row] = static_cast<T>(loss);
    }
    return out;
};

TEST_CASE("softmax_cross_entropy: values") {
    for (const index_t columns : {1, 3, 10, 33, 500})
        for (const index_t rows : {1, 2, 16, 37}) {
            INFO(rows << " rows of " << columns);
            const std::vector<op_test::range> in{{-4, 4}, {0.1, 1}};
            op_test::node<float, 2, 2>(f, reference, {{rows, columns}, {rows, columns}}, {.in = in, .ulps = 200});
            op_test::node<double, 2, 2>(f, reference, {{rows, columns}, {rows, columns}},
                                        {.in = in, .order = 0, .ulps = 200});
        }
    op_test::node<float, 2, 2>(f, reference, {{0, 4}, {0, 4}});
    op_test::node<float, 2, 2>(f, reference, {{3, 0}, {3, 0}});
    op_test::node<float, 1, 1>(f, reference, {{6}, {6}}, {.in = {{-4, 4}, {0.1, 1}}});
}

TEST_CASE("softmax_cross_entropy: gradients, also of labels that don't add up to one") {
    op_test::node<double, 2, 2>(f, reference, {{3, 4}, {3, 4}}, {.in = {{-2, 2}, {0.1, 1}}, .order = 2});
    op_test::node<double, 2, 2>([](const auto& x, const auto& l) { return reduce_mean(f(x, l)); },
                                [](const auto& x, const auto& l) {
                                    double sum = 0;
                                    for (const double v : reference(x, l)) sum += v;
                                    return xt::xarray<double>(sum / static_cast<double>(x.shape(0)));
                                },
                                {{2, 3}, {2, 3}}, {.in = {{-2, 2}, {0.1, 1}}, .order = 3});
    op_test::node<double, 3, 3>(f, reference, {{2, 2, 3}, {2, 2, 3}}, {.in = {{-2, 2}, {0.1, 1}}, .order = 2});
}

TEST_CASE("softmax_cross_entropy: certain and impossible classes") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, dyn> x("x"), labels("labels");
    const auto loss = softmax_cross_entropy(x, labels);
    const auto [dx] = gradients(loss, x);
    const float inf = std::numeric_limits<float>::infinity();
    for (const std::size_t columns : {3u, 100u}) {
        xt::xtensor<float, 2> at({3, columns}, -inf), truth({3, columns}, 0.f);
        at(0, 0) = 5.f, at(0, 1) = 5.f; // the other classes are ruled out
        at(1, 2) = 1e30f, at(1, 0) = -1e30f;
        at(2, 1) = 0.f, at(2, 0) = 100.f;
        truth(0, 0) = truth(1, 2) = truth(2, 1) = 1.f;
        const auto [l, d] = s.run(std::tuple(loss, dx), feed(x, at), feed(labels, truth));
        CHECK(l(0) == Approx(std::log(2.f)));
        CHECK(l(1) == 0.f);
        CHECK(l(2) == Approx(100.f));
        CHECK(d(0, 0) == Approx(-0.5f));
        CHECK(d(0, 2) == 0.f);
        CHECK(d(1, 2) == 0.f);
        CHECK(d(2, 1) == Approx(-1.f));
    }
}

TEST_CASE("softmax_cross_entropy: types and refusals") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 10> logits("logits");
    placeholder<float, 32, dyn> labels("labels");
    static_assert(std::is_same_v<decltype(softmax_cross_entropy(logits, labels)), tensor<float, 32>>);
    static_assert(!shapes_agree<extents<2, 3>, extents<2, 4>> && !shapes_agree<extents<2, 3>, extents<3>>);
    const auto loss = softmax_cross_entropy(logits, labels);
    CHECK(loss.name() == "softmax_cross_entropy:0");
    const xt::xtensor<float, 2> right({32, 10}, 1.f), wrong({31, 10}, 1.f);
    CHECK(s.run(loss, feed(logits, right), feed(labels, right)).shape(0) == 32);
    CHECK_THROWS_AS(s.run(loss, feed(logits, wrong), feed(labels, right)), invalid_argument);
    CHECK_THROWS_WITH(s.run(loss, feed(logits, wrong), feed(labels, right)),
                      contains("softmax_cross_entropy: the shapes of logits and labels differ") &&
                          contains("[31, 10]") && contains("[32, 10]"));
    const any_tensor any = any_placeholder("any", dtype::float32, {32, 9}),
                     doubles = any_placeholder("doubles", dtype::float64);
    CHECK_THROWS_AS(
        softmax_cross_entropy(any, labels).end() == endpoint() ? 0 : softmax_cross_entropy(logits, any).end().port,
        invalid_argument);
    CHECK_THROWS_WITH(softmax_cross_entropy(any, doubles), contains("softmax_cross_entropy: the dtypes differ"));
    CHECK_THROWS_WITH(softmax_cross_entropy(any_tensor(constant(any_array(dtype::float32, dims{}))),
                                            any_tensor(constant(any_array(dtype::float32, dims{})))),
                      contains("softmax_cross_entropy: a scalar has no last axis"));
}

} // namespace test_ops_nn_softmax_cross_entropy
