// SPDX-License-Identifier: BSD-3-Clause
#include <rill/ops/math/derivative.hpp>

#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/cos.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/greater.hpp>
#include <rill/ops/math/neg.hpp>
#include <rill/ops/math/relu.hpp>
#include <rill/ops/math/sigmoid.hpp>
#include <rill/ops/math/sin.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>
#include <rill/ops/math/tanh.hpp>
#include <rill/ops/state/variable.hpp>

#include "ops/harness.hpp"

using namespace rill;

// every elementwise op's own test compares derivative() with finite differences; here is what is said of expressions

TEST_CASE("derivative: an expression again, of the shape of y") {
    placeholder<float, dyn, 3> x("x");
    placeholder<float, 3> w("w");
    const auto y = 0.5f * w * (1.f + tanh(x));
    const auto dx = derivative(y, x), dw = derivative(y, w);
    static_assert(detail::is_expression<std::remove_const_t<decltype(dx)>>);
    static_assert(std::is_same_v<extents_of<decltype(dx)>, extents<dyn, 3>>);
    static_assert(std::is_same_v<extents_of<decltype(dw)>, extents<dyn, 3>>, "element by element: nothing is summed");
    const session s;
    const auto [vx, vw] = s.run(std::tuple(dx, dw), feed(x, xt::xtensor<float, 2>{{0, 1, -1}, {2, 0, 1}}),
                                feed(w, std::vector<float>{1, 2, 4}));
    CHECK(vx(0, 0) == Approx(0.5));
    CHECK(vx(0, 2) == Approx(2 * (1 - std::tanh(1.) * std::tanh(1.))));
    CHECK(vw(1, 0) == Approx(0.5 * (1 + std::tanh(2.))));
}

TEST_CASE("derivative: computed in the pass of what surrounds it") {
    const graph g;
    const graph_scope here(g);
    placeholder<double, dyn> x("x");
    const auto y = square(x) - 2.0;
    const tensor newton = x - y / derivative(y, x);
    CHECK(g.size() == 2);
    const session s(g);
    double root = 1;
    for (int i = 0; i < 6; ++i) root = s.run(newton, feed(x, std::vector<double>{root}))(0);
    CHECK(root == Approx(std::sqrt(2.0)));
}

TEST_CASE("derivative: by a leaf that occurs often, otherwise, or not at all") {
    placeholder<double, dyn> x("x"), z("z"), other("other");
    const auto y = x * x * z + sin(x) * exp(z) + x;
    const session s;
    const std::vector<double> v{0.5, -1}, u{2, 0.25};
    const std::vector<feed_value> fed{feed(x, v), feed(z, u)};
    const auto dx = s.run(derivative(y, x), fed), dz = s.run(derivative(y, z), fed);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(dx(i) == Approx(2 * v[i] * u[i] + std::cos(v[i]) * std::exp(u[i]) + 1));
        CHECK(dz(i) == Approx(v[i] * v[i] + std::sin(v[i]) * std::exp(u[i])));
    }
    CHECK(op_test::list(s.run(derivative(y, other), fed)) == std::vector<double>{0, 0});
    const tensor same = x; // another handle to the same edge
    CHECK(op_test::list(s.run(derivative(y, same), fed)) == op_test::list(dx));
}

TEST_CASE("derivative: nothing flows through comparisons and integers") {
    placeholder<double, dyn> x("x");
    placeholder<int, dyn> n("n");
    const session s;
    const std::vector<double> v{0.5, -1};
    const auto fed = std::vector<feed_value>{feed(x, v), feed(n, std::vector<int>{3, 4})};
    CHECK(op_test::list(s.run(derivative(select(x > 0, x * x, -3.0 * x), x), fed)) == std::vector<double>{1, -3});
    CHECK(op_test::list(s.run(derivative(cast<double>(n) * x, x), fed)) == std::vector<double>{3, 4});
    CHECK(op_test::list(s.run(derivative(cast<double>(x > 0) + x, x), fed)) == std::vector<double>{1, 1});
}

TEST_CASE("derivative: over several blocks and of a broadcast leaf") {
    placeholder<double, dyn, dyn> x("x");
    placeholder<double, dyn> w("w");
    const auto y = sigmoid(x * w);
    const session s;
    const std::vector<double> row = op_test::points<double>({-1, 1}, 700);
    const xt::xtensor<double, 2> rows(std::array<std::size_t, 2>{9, 700}, 0.5);
    const auto d = s.run(derivative(y, w), feed(x, rows), feed(w, row));
    for (std::size_t i = 0; i < 9; i += 4)
        for (std::size_t j = 0; j < 700; j += 99) {
            const double p = 1 / (1 + std::exp(-0.5 * row[j]));
            CHECK(d(i, j) == Approx(0.5 * p * (1 - p)));
        }
}

TEST_CASE("derivative: its own gradients, to the third order") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    placeholder<double, dyn> x("x"), z("z");
    const any_tensor slope = sealed(derivative(tanh(x * z) * exp(z) + x * x * x * z, x));
    const std::vector<any_array> at{op_test::point_array<double>({-1, 1}, {3}),
                                    op_test::point_array<double>({-1, 1}, {3}, 1)};
    op_test::gradient_check{s, {x, z}, at}.check(slope, 2);
}

TEST_CASE("derivative: of a derivative, and over the weight limit, through the graph") {
    placeholder<double, dyn> x("x");
    const session s;
    const std::vector<double> v{0.5, -1};
    const auto second = derivative(derivative(sin(x) * exp(x), x), x); // 2 cos(x) exp(x)
    static_assert(std::is_same_v<decltype(second), const tensor<double, dyn>>);
    auto heavy = x * x + sin(x) * sin(x) + sin(x) * cos(x) + x * x * x + exp(x) * sin(x) + x * cos(x) + x * x * x * x +
                 exp(-x) * x;
    static_assert(detail::has_deferred_part<decltype(heavy)>);
    const auto [value, slope] = s.run(std::tuple(second, derivative(heavy, x)), feed(x, v));
    for (std::size_t i = 0; i < 2; ++i) {
        const double a = v[i], sine = std::sin(a), cosine = std::cos(a);
        CHECK(value(i) == Approx(2 * cosine * std::exp(a)));
        CHECK(slope(i) ==
              Approx(2 * a + 2 * sine * cosine + cosine * cosine - sine * sine + 3 * a * a +
                     std::exp(a) * (sine + cosine) + cosine - a * sine + 4 * a * a * a + std::exp(-a) * (1 - a)));
    }
}

TEST_CASE("derivative: gradients of expressions that contain one flow through it, whatever stands beside it") {
    placeholder<double> x("x"), y("y");
    const auto d = derivative(x * x * x, x); // 3 x^2
    const session s;
    const auto at = [&](const auto& f) {
        return s.run(std::get<0>(gradients(sealed(f), x)), feed(x, 2.0), feed(y, 5.0));
    };
    CHECK(at(d + x) == Approx(13));
    CHECK(at(d * x) == Approx(36));
    CHECK(at(d * y) == Approx(60));
    CHECK(at(d * 2.0) == Approx(24));
    CHECK(at(derivative(d * x + x * x * x, x)) == Approx(48));

    variable<double> w("w", 1.0);
    const auto slope = derivative(w * x * x, x); // 2 w x
    const auto [dw] = gradients(square(slope - y), w);
    s.run(global_variables_initializer());
    CHECK(s.run(dw, feed(x, 2.0), feed(y, 5.0)) == Approx(2 * (4 - 5.) * 4));
}
