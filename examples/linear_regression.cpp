// SPDX-License-Identifier: BSD-3-Clause
// A line fitted to noisy points by gradient descent and by Adam, beside least squares by QR; then curved data, where a hidden
// layer does better than any line. The fits are drawn in the terminal.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

struct points {
    std::vector<float> x, y;
};

points sample(bool curved) {
    std::mt19937 random(3);
    std::normal_distribution<float> noise(0.f, 0.15f);
    points p;
    for (int i = 0; i < 100; ++i) {
        const float x = -1.f + 0.02f * static_cast<float>(i);
        p.x.push_back(x);
        p.y.push_back((curved ? std::sin(3.f * x) : 1.5f * x + 0.5f) + noise(random));
    }
    return p;
}

/// The line of least squares: with the points' rows (x, 1) as q r, it solves r (w, b) = q^T y.
std::pair<float, float> least_squares(const points& p) {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn> x("x"), y("y");
    const auto [q, r] = qr(stack<1>(x, ones_like(x)));
    const auto line = matrix_triangular_solve(r, matmul(transpose(q), expand_dims<1>(y)), false);
    const auto wb = session().run(line, feed(x, p.x), feed(y, p.y));
    return {wb(0, 0), wb(1, 0)};
}

template <class F> float mean_squared_error(const points& p, F predict) {
    double sum = 0;
    for (std::size_t i = 0; i < p.x.size(); ++i) sum += std::pow(predict(p.x[i], i) - p.y[i], 2);
    return static_cast<float>(sum / static_cast<double>(p.x.size()));
}

/// Points as dots, the fit as stars.
template <class F> void draw(const char* title, const points& p, F predict) {
    constexpr int rows = 15, columns = 64;
    std::vector<std::string> canvas(rows, std::string(columns, ' '));
    const auto [low, high] = std::minmax_element(p.y.begin(), p.y.end());
    const auto put = [&](float x, float y, char mark) {
        const int c = static_cast<int>((x + 1.f) / 2.f * (columns - 1)),
                  r = static_cast<int>((*high - y) / (*high - *low) * (rows - 1));
        if (r >= 0 && r < rows) canvas[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)] = mark;
    };
    for (std::size_t i = 0; i < p.x.size(); ++i) put(p.x[i], p.y[i], '.');
    for (std::size_t i = 0; i < p.x.size(); ++i) put(p.x[i], predict(p.x[i], i), '*');
    std::printf("\n%s\n", title);
    for (const auto& row : canvas) std::printf("  |%s|\n", row.c_str());
}

template <class Optimizer> std::pair<float, float> fit_line(const points& p, const Optimizer& optimizer, int steps) {
    graph g;
    graph_scope here(g);
    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    auto loss = reduce_mean(square(w * x + b - y));
    auto train = optimizer.minimize(loss);
    session s;
    s.run(global_variables_initializer());
    auto step = s.make_callable(std::tuple(loss, train), x, y);
    for (int i = 0; i < steps; ++i) step(p.x, p.y);
    return {s.run(w), s.run(b)};
}

/// One hidden layer of 16 tanh units; returns its predictions.
std::vector<float> fit_layered(const points& p) {
    graph g;
    g.set_seed(5);
    graph_scope here(g);
    placeholder<float, dyn, 1> x("x"), y("y");
    auto hidden = tanh(dense<1, 16>("hidden", x));
    auto predicted = dense<16, 1>("out", hidden);
    auto loss = reduce_mean(square(predicted - y));
    auto train = adam({.learning_rate = 0.02}).minimize(loss);
    session s;
    s.run(global_variables_initializer());
    auto step = s.make_callable(train, x, y);
    for (int i = 0; i < 1000; ++i) step(p.x, p.y);
    const auto out = s.run(predicted, feed(x, p.x));
    return {out.begin(), out.end()};
}

} // namespace

int main() {
    const auto line = [](std::pair<float, float> wb) {
        return [wb](float x, std::size_t) { return wb.first * x + wb.second; };
    };

    const points straight = sample(false);
    const auto best = least_squares(straight), sgd = fit_line(straight, gradient_descent(0.1f), 500),
               by_adam = fit_line(straight, adam(0.05f), 500);
    const float e_best = mean_squared_error(straight, line(best)), e_sgd = mean_squared_error(straight, line(sgd)),
                e_adam = mean_squared_error(straight, line(by_adam));
    std::printf("least squares     w %.4f  b %.4f  error %.5f\n", best.first, best.second, e_best);
    std::printf("gradient descent  w %.4f  b %.4f  error %.5f\n", sgd.first, sgd.second, e_sgd);
    std::printf("adam              w %.4f  b %.4f  error %.5f\n", by_adam.first, by_adam.second, e_adam);
    draw("a line through noisy points", straight, line(sgd));
    expect(e_sgd >= e_best - 1e-6f && e_sgd < e_best * 1.01f,
           "gradient descent comes close to least squares, from above");
    expect(e_adam < e_best * 1.01f, "and so does Adam");

    const points curved = sample(true);
    const auto flat = least_squares(curved);
    const auto layered = fit_layered(curved);
    const auto bent = [&](float, std::size_t i) { return layered[i]; };
    const float e_flat = mean_squared_error(curved, line(flat)), e_bent = mean_squared_error(curved, bent);
    std::printf("\ncurved data: best line %.5f, hidden layer %.5f\n", e_flat, e_bent);
    draw("a hidden layer on curved data", curved, bent);
    expect(e_bent < 0.5f * e_flat, "the hidden layer fits the curve better");
}
