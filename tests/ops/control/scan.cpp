// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/control/scan.hpp>

#include <cmath>
#include <vector>

#include <rill/core/array_text.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/session/session.hpp>
#include <rill/train/initializers.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_ops_control_scan {

TEST_CASE("scan: all states, from either end") {
    const graph_scope here{graph()};
    placeholder<float, dyn, 2> x("x");
    const auto sums = scan([](auto h, auto in) { return h + in; }, constant({0.f, 0.f}), x);
    static_assert(std::is_same_v<std::remove_const_t<decltype(sums)>, tensor<float, dyn, 2>>);
    const session s;
    const xt::xtensor<float, 2> rows{{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}};
    CHECK((s.run(sums, feed(x, rows)) == xt::xtensor<float, 2>{{1.f, 2.f}, {4.f, 6.f}, {9.f, 12.f}}));
    const auto back = scan([](auto h, auto in) { return h + in; }, constant({0.f, 0.f}), x, {.reverse = true});
    CHECK((s.run(back, feed(x, rows)) == xt::xtensor<float, 2>{{9.f, 12.f}, {8.f, 10.f}, {5.f, 6.f}}));
    CHECK((s.run(sums, feed(x, xt::xtensor<float, 2>(xt::xtensor<float, 2>::shape_type{0, 2}))).size() == 0));
    // state and inputs of several parts
    const auto [a, b] = scan(
        [](const auto& state, const auto& in) {
            const auto [p, q] = state;
            const auto [u, v] = in;
            return std::tuple(p + u, q * v);
        },
        std::tuple(0.f, 1.f), std::tuple(constant({1.f, 2.f, 3.f}), constant({2.f, 3.f, 4.f})));
    const auto [av, bv] = s.run(std::tuple(a, b));
    CHECK(av(2) == 6.f);
    CHECK(bv(2) == 24.f);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(a)>, tensor<float, 3>>);
}

TEST_CASE("scan: the last state, and outputs apart from it") {
    const graph_scope here{graph()};
    const session s;
    const tensor xs = constant({1.f, 2.f, 3.f});
    const auto [last, outputs] = scan([](auto h, auto x) { return std::tuple(h + x, cast<int>(h * 10.f)); }, 0.5f, xs);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(last)>, tensor<float>>);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(outputs)>, tensor<int, 3>>);
    CHECK((s.run(std::tuple(last, outputs)) == std::tuple(6.5f, xt::xtensor<int, 1>{5, 15, 35})));
    // a pair will do; outputs of several parts, from the end
    const auto [sum, both] = scan([](auto h, auto x) { return std::pair(h + x, std::tuple(h, std::pair(x, 1))); }, 0.f,
                                  xs, {.reverse = true});
    const auto& [before, rest] = both;
    CHECK((s.run(std::tuple(sum, before, rest.first, rest.second)) ==
           std::tuple(6.f, xt::xtensor<float, 1>{5.f, 3.f, 0.f}, xt::xtensor<float, 1>{1.f, 2.f, 3.f},
                      xt::xtensor<int, 1>{1, 1, 1})));
    // a state of two parts, and outputs: told from the next state by how they are built
    const auto [pair, ratios] = scan(
        [](const auto& h, auto x) {
            const auto [a, b] = h;
            return std::tuple(std::tuple(a + x, b * x), a / b);
        },
        std::tuple(0.f, 1.f), xs);
    CHECK((s.run(std::tuple(std::get<0>(pair), std::get<1>(pair), ratios)) ==
           std::tuple(6.f, 6.f, xt::xtensor<float, 1>{0.f, 1.f, 1.5f})));
    const auto [slope] = gradients(last + reduce_sum(cast<float>(outputs)) + reduce_sum(ratios), xs);
    CHECK((s.run(slope) == xt::xtensor<float, 1>{0.f, 0.75f, 1.f}));
}

TEST_CASE("scan: nested states, arrays and vectors") {
    const graph_scope here{graph()};
    const session s;
    const auto xs = constant({1, 2, 3});
    const auto nested = scan(
        [](const auto& h, auto x) {
            const auto& [a, inner] = h;
            return std::tuple(a + x, std::tuple(a * x, std::get<1>(inner) - x));
        },
        std::tuple(0, std::tuple(1, 2)), xs);
    static_assert(std::is_same_v<std::remove_const_t<decltype(nested)>,
                                 std::tuple<tensor<int, 3>, std::tuple<tensor<int, 3>, tensor<int, 3>>>>);
    const auto& [a, inner] = nested;
    CHECK((s.run(std::tuple(a, std::get<0>(inner), std::get<1>(inner))) ==
           std::tuple(xt::xtensor<int, 1>{1, 3, 6}, xt::xtensor<int, 1>{0, 2, 9}, xt::xtensor<int, 1>{1, -1, -4})));
    const auto swapped = fold([](const auto& h, auto x) { return std::array<any_tensor, 2>{h[1] + x, h[0]}; },
                              std::array<any_tensor, 2>{constant(10), constant(20)}, xs);
    CHECK(s.run(swapped[0]).value<int>() == 24);
    CHECK(s.run(swapped[1]).value<int>() == 12);
    const std::vector<any_tensor> start{constant(0), constant(1), constant(2)}, slices{xs, xs * xs};
    const auto body = [](const std::vector<any_tensor>& h, const std::vector<any_tensor>& in) {
        return std::pair(std::vector<any_tensor>{h[0] + in[0], h[1] + in[1], h[2]}, std::vector<any_tensor>{h[0]});
    };
    const auto [end, seen] = scan(body, start, slices);
    REQUIRE((end.size() == 3 && seen.size() == 1));
    CHECK(s.run(end[1]).value<int>() == 15);
    CHECK(to_string(s.run(seen[0])) == "int32 [3] {0, 1, 3}");
    const auto doubled = map([](const auto& in) { return std::vector{in[0] * 2, in[1]}; }, slices);
    CHECK(to_string(s.run(doubled[0])) == "int32 [3] {2, 4, 6}");
    const auto short_of_one = [](const auto& h, auto) { return std::vector<any_tensor>{h[0]}; };
    CHECK_THROWS_WITH(fold(short_of_one, start, xs),
                      contains("fold: a vector of the state has 3 parts, the body gives 1"));
}

TEST_CASE("fold, fold_right and map") {
    const graph_scope here{graph()};
    const session s;
    const auto digits = constant({1, 2, 3});
    CHECK(s.run(fold([](auto n, auto d) { return 10 * n + d; }, 0, digits)) == 123);
    CHECK(s.run(fold_right([](auto n, auto d) { return 10 * n + d; }, 0, digits)) == 321);
    const auto squares = map([](auto d) { return d * d; }, digits);
    static_assert(std::is_same_v<std::remove_const_t<decltype(squares)>, tensor<int, 3>>);
    CHECK(s.run(squares)(2) == 9);
    const auto [more, less] = map([](auto d) { return std::tuple(d + 1, d - 1); }, digits);
    CHECK((s.run(std::tuple(more, less)) == std::tuple(xt::xtensor<int, 1>{2, 3, 4}, xt::xtensor<int, 1>{0, 1, 2})));
    const auto words =
        map([](auto w) { return w; }, constant({std::string("one"), std::string("a longer one than fits in place")}));
    CHECK(s.run(words)(1) == "a longer one than fits in place");
}

TEST_CASE("scan: gradients by state, slices and what is taken from outside, to third order") {
    const graph_scope here{graph()};
    placeholder<double, 3> xs("xs");
    placeholder<double> w("w"), h0("h0");
    const auto h = fold([&](auto v, auto in) { return tanh(v * w + in); }, h0, xs);
    const auto [dw, dx, dh] = gradients(h, w, xs, h0);
    const auto [d2] = gradients(dw, w);
    const auto [d3] = gradients(d2, w);
    const auto f = [](double at, double begin, const std::vector<double>& in) {
        for (const double i : in) begin = std::tanh(begin * at + i);
        return begin;
    };
    const std::vector<double> in{0.1, 0.2, -0.3};
    const session s;
    const auto [v, v1, vx, vh, v2, v3] =
        s.run(std::tuple(h, dw, dx, dh, d2, d3), feed(w, 0.7), feed(h0, 0.5), feed(xs, in));
    const double e = 1e-3;
    const auto at = [&](double k) { return f(0.7 + k * e, 0.5, in); };
    CHECK(v == Approx(at(0)));
    CHECK(v1 == Approx((at(1) - at(-1)) / (2 * e)).epsilon(1e-5));
    CHECK(v2 == Approx((at(1) - 2 * at(0) + at(-1)) / (e * e)).epsilon(1e-5));
    CHECK(v3 == Approx((at(2) - 2 * at(1) + 2 * at(-1) - at(-2)) / (2 * e * e * e)).epsilon(1e-4));
    CHECK(vh == Approx((f(0.7, 0.5 + e, in) - f(0.7, 0.5 - e, in)) / (2 * e)).epsilon(1e-5));
    CHECK(vx(2) == Approx(1 - v * v));
}

/// A recurrent network whose sequences have lengths of their own: behind its end a sequence keeps its state.
template <class Weights>
auto recurrent(const tensor<double, dyn, 2, 3>& in, const tensor<int, 2>& lengths, const Weights& u) {
    const auto [k, last] = fold(
        [&](const auto& state, const auto& x) {
            const auto [i, h] = state;
            const auto next = tanh(x + matmul(h, u));
            return std::tuple(i + 1, select(expand_dims<1>(i < lengths), next, h));
        },
        std::tuple(constant(0), zeros<double, 2, 3>()), in);
    return last;
}

TEST_CASE("scan: a recurrent network with lengths of its own for each example is the one unrolled by hand") {
    const graph_scope here{graph()};
    placeholder<double, dyn, 2, 3> x("x");
    placeholder<int, 2> lengths("lengths");
    const variable<double, 3, 3> u("u", random_normal({.stddev = 0.5, .seed = 3}));
    const auto loss = reduce_sum(square(recurrent(x, lengths, u)));
    const auto [du, dx] = gradients(loss, u, x);

    placeholder<double, 4, 2, 3> fixed("fixed");
    tensor<double, 2, 3> h = zeros<double, 2, 3>();
    for (int t = 0; t < 4; ++t) {
        const auto in = reshape<2, 3>(slice<1, 2, 3>(fixed, {t, 0, 0}));
        h = select(expand_dims<1>(constant(t) < lengths), tanh(in + matmul(h, u)), h);
    }
    const auto by_hand = reduce_sum(square(h));
    const auto [du2, dx2] = gradients(by_hand, u, fixed);

    const session s;
    s.run(global_variables_initializer());
    xt::xtensor<double, 3> in({4, 2, 3});
    for (std::size_t i = 0; i < in.size(); ++i) in.data()[i] = std::sin(static_cast<double>(i));
    const std::vector<int> n{4, 2};
    const auto a = s.run(std::tuple(loss, du, dx), feed(x, in), feed(lengths, n));
    const auto b = s.run(std::tuple(by_hand, du2, dx2), feed(fixed, in), feed(lengths, n));
    CHECK(std::get<0>(a) == Approx(std::get<0>(b)));
    for (std::size_t i = 0; i < 9; ++i) CHECK(std::get<1>(a).data()[i] == Approx(std::get<1>(b).data()[i]));
    for (std::size_t i = 0; i < in.size(); ++i)
        CHECK(std::get<2>(a).data()[i] == Approx(std::get<2>(b).data()[i]).margin(1e-12));
    CHECK(std::get<2>(a)(3, 1, 0) == 0.); // behind its end
}

TEST_CASE("scan: what is drawn in the body is the same for the value and for the gradient") {
    const graph_scope here{graph()};
    placeholder<double, dyn> x("x");
    const auto noisy = map([](auto v) { return v * random_uniform<double>({.seed = 5}); }, x);
    const auto [d] = gradients(noisy, x);
    const session s;
    const auto [v, dv] = s.run(std::tuple(noisy, d), feed(x, {1., 2., 3.}));
    CHECK(v(2) == 3. * dv(2));
    CHECK(dv(0) != dv(1));
}

TEST_CASE("scan: errors") {
    const graph_scope here{graph()};
    placeholder<float, dyn> a("a"), b("b");
    const session s;
    const auto pairs = map([](const auto& in) { return std::get<0>(in) + std::get<1>(in); }, std::tuple(a, b));
    CHECK_THROWS_WITH(s.run(pairs, feed(a, {1.f, 2.f}), feed(b, {1.f})),
                      contains("one operand has 2 slices, another 1"));
    const any_tensor none = constant(1.f);
    CHECK_THROWS_WITH(map([](const any_tensor& t) { return t; }, none),
                      contains("map: ") && contains("no axis to go along"));
}

} // namespace test_ops_control_scan
