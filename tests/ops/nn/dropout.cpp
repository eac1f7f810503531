// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/nn/dropout.hpp>

#include <numeric>

#include <rill/ops/math/reduce_sum.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_dropout {

TEST_CASE("dropout: elements are 0 or scaled, as often as the rate says") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x");
    const std::vector<double> at = op_test::points<double>({1, 2}, 20000);
    for (const double rate : {0.1, 0.5, 0.75}) {
        const auto got = s.run(dropout(x, rate, {.seed = 3}), feed(x, at));
        int dropped = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            if (got(i) == 0)
                ++dropped;
            else
                CHECK(got(i) == Approx(at[i] / (1 - rate)));
        }
        CHECK(dropped / 20000. == Approx(rate).margin(0.015)); // some five standard deviations
    }
    const auto all = s.run(dropout(x, 0, {.seed = 3}), feed(x, at));
    CHECK(op_test::list(all) == at);
}

TEST_CASE("dropout: gradient by the same draw, which no NaN gets through") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 10> x("x");
    const auto y = dropout(x * x, 0.5f);
    static_assert(std::is_same_v<extents_of<decltype(y)>, extents<dyn, 10>>);
    const auto [d] = gradients(reduce_sum(y), x);
    const auto [d2] = gradients(reduce_sum(d), x);
    const auto at = op_test::point_array<float>({1, 2}, {50, 10});
    const std::vector<any_array> got = s.run(std::vector<any_tensor>{y, d, d2}, feed(any_tensor(x), at));
    int dropped = 0;
    for (std::size_t i = 0; i < 500; ++i) {
        const float v = at.elements<float>()[i], value = got[0].elements<float>()[i];
        dropped += value == 0;
        CHECK(value == (value == 0 ? 0 : 2 * v * v));
        CHECK(got[1].elements<float>()[i] == Approx(value == 0 ? 0 : 4 * v));
        CHECK(got[2].elements<float>()[i] == Approx(value == 0 ? 0 : 4));
    }
    CHECK(dropped > 150);
    CHECK(dropped < 350);

    placeholder<float, 64> nan("nan");
    const auto draw = s.run(dropout(nan, 0.5, {.seed = 1}), feed(nan, std::vector<float>(64, std::nanf(""))));
    CHECK(std::count(draw.begin(), draw.end(), 0.f) > 0);
}

TEST_CASE("dropout: each run draws anew, a seed says how") {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 100> x("x");
    const std::vector<float> ones(100, 1);
    const auto first = dropout(x, 0.5, {.seed = 7}), second = dropout(x, 0.5, {.seed = 7}), other = dropout(x, 0.5),
               another = dropout(x, 0.5);
    const session s(g), again(g);
    const auto [a, b, c, d] = s.run(std::tuple(first, second, other, another), feed(x, ones));
    CHECK(op_test::list(a) == op_test::list(b));
    CHECK(op_test::list(a) != op_test::list(c));
    CHECK(op_test::list(c) != op_test::list(d));
    CHECK(op_test::list(s.run(first, feed(x, ones))) != op_test::list(a));
    CHECK(op_test::list(again.run(first, feed(x, ones))) == op_test::list(a));
    CHECK(op_test::list(again.run(other, feed(x, ones))) == op_test::list(c));
}

TEST_CASE("dropout: a rate that is fed, and types known at run time only") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, 3, 4> x("x");
    placeholder<float> rate("rate");
    const auto at = op_test::point_array<float>({1, 2}, {3, 4});
    const auto fed = [&](const any_tensor& y, float r) {
        return s.run(y, std::vector<feed_value>{{x, {}, at}, {rate, {}, op_test::make_array<float>({}, {r})}});
    };
    const any_tensor typed = dropout(x, rate), untyped = dropout(any_tensor(x), any_tensor(rate)),
                     number = dropout(any_tensor(x), 0.999);
    for (const any_tensor& y : {typed, untyped}) {
        const auto whole = fed(y, 0);
        CHECK(op_test::reals(whole) == op_test::reals(at));
        const auto rare = op_test::reals(fed(y, 0.999f));
        CHECK(std::count(rare.begin(), rare.end(), 0.0) > 8);
    }
    const auto rare = op_test::reals(fed(number, 0));
    CHECK(std::count(rare.begin(), rare.end(), 0.0) > 8);

    for (const any_tensor& y : {typed, untyped})
        for (const float r : {1.f, -0.5f, std::nanf("")})
            CHECK_THROWS_WITH(fed(y, r), contains("dropout: the rate is ") && contains("must lie in [0, 1)") &&
                                             contains("dropout.cpp"));
    CHECK_THROWS_WITH(dropout(any_tensor(x), any_tensor(x)), contains("dropout: the rate must be one number"));
    CHECK_THROWS_WITH(dropout(x, 1), contains("dropout: the rate is 1.0"));
    CHECK_THROWS_AS(dropout(x, -0.1), invalid_argument);
    CHECK_THROWS_AS(dropout(x, std::nan("")), invalid_argument);
    CHECK_THROWS_WITH(dropout(any_placeholder("ids", dtype::int32), 0.5), contains("dropout") && contains("int32"));
}

TEST_CASE("dropout: the gradient by the rate, and its op by name") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double> rate("rate");
    const auto y = apply_node(dropout_rate_op{}, {}, rate);
    op_test::gradient_check{s, {rate}, {op_test::make_array<double>({}, {0.5})}}.check(y, 2);
    CHECK(make_op("DropoutRate")->equals(*make_op(dropout_rate_op{})));
}

TEST_CASE("dropout: while training only, by a bool and by a bool that is fed") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<float, dyn, 100> x("x");
    placeholder<bool> training("training");
    placeholder<float> rate("rate");
    const xt::xtensor<float, 2> at({2, 100}, 3.f);
    const auto is_dropped = [&](const auto& got) {
        int zeros = 0;
        for (const float v : got) {
            CHECK((v == 0.f || v == 4.f)); // 3 / (1 - 0.25)
            zeros += v == 0.f;
        }
        CHECK(zeros > 10); // 50 of 200, give or take six deviations
        CHECK(zeros < 90);
    };
    const auto is_same = [&](const auto& got) { CHECK(std::count(got.begin(), got.end(), 3.f) == 200); };
    is_dropped(s.run(dropout(x, 0.25f, true, {.seed = 5}), feed(x, at)));
    is_same(s.run(dropout(x, 0.25f, false, {.seed = 5}), feed(x, at)));
    const auto fed = dropout(x, 0.25f, training, {.seed = 5});
    static_assert(std::is_same_v<std::remove_const_t<decltype(fed)>, tensor<float, dyn, 100>>);
    is_dropped(s.run(fed, feed(x, at), feed(training, true)));
    is_same(s.run(fed, feed(x, at), feed(training, false)));
    const auto both = dropout(x, rate, training);
    is_dropped(s.run(both, feed(x, at), feed(training, true), feed(rate, 0.25f)));
    is_same(s.run(both, feed(x, at), feed(training, false), feed(rate, 0.25f)));
    const auto [d] = gradients(reduce_sum(fed), x);
    const auto [y, slope] = s.run(std::tuple(fed, d), feed(x, at), feed(training, true));
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(slope.flat(i) == Approx(y.flat(i) / 3));
    const auto quiet = s.run(d, feed(x, at), feed(training, false));
    CHECK(std::count(quiet.begin(), quiet.end(), 1.f) == 200);
}

} // namespace test_dropout
