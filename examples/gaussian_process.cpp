// SPDX-License-Identifier: BSD-3-Clause
// Regression by a Gaussian process. The length, the height and the noise of its covariance are found by gradient descent on the log
// marginal likelihood, whose gradients go through a Cholesky factorization.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <random>
#include <string>
#include <tuple>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr index_t points = 40, places = 61;
constexpr double true_noise = 0.1;

double truth(double x) { return std::sin(3 * x) + 0.5 * x; }

/// The mean as stars between two bounds as dots.
template <class M, class D> void draw(const M& mean, const D& deviation) {
    constexpr int rows = 17;
    std::vector<std::string> canvas(rows, std::string(static_cast<std::size_t>(places), ' '));
    const auto put = [&](std::size_t column, double y, char mark) {
        const int row = static_cast<int>(std::lround((2.5 - y) / 5 * (rows - 1)));
        if (row >= 0 && row < rows) canvas[static_cast<std::size_t>(row)][column] = mark;
    };
    for (std::size_t i = 0; i < mean.size(); ++i) {
        put(i, mean.flat(i) + 2 * deviation.flat(i), '.');
        put(i, mean.flat(i) - 2 * deviation.flat(i), '.');
        put(i, mean.flat(i), '*');
    }
    for (const auto& row : canvas) std::printf("  |%s|\n", row.c_str());
}

} // namespace

int main() {
    std::mt19937 random(5);
    std::normal_distribution<double> noise(0, true_noise);
    xt::xtensor<double, 2> xs({points, 1}), ys({points, 1}), grid({places, 1});
    for (std::size_t i = 0; i < points; ++i) { // a gap in the middle
        const double at = 4 * static_cast<double>(i) / (points - 1) - 2;
        xs(i, 0) = at < 0 ? at - 0.3 : at + 0.3;
        ys(i, 0) = truth(xs(i, 0)) + noise(random);
    }
    for (std::size_t i = 0; i < places; ++i) grid(i, 0) = 6 * static_cast<double>(i) / (places - 1) - 3;

    const graph g;
    const graph_scope here(g);
    const placeholder<double, points, 1> x("x"), y("y");
    const placeholder<double, dyn, 1> at("at");
    const variable<double> log_length("log_length", std::log(0.5)), log_height("log_height", 0.),
        log_noise("log_noise", std::log(0.3));
    const auto covariance = [&](const auto& a, const auto& b) {
        const auto squares = square(a - matrix_transpose(b)); // a column minus a row
        return exp(2. * log_height - 0.5 * squares * exp(-2. * log_length));
    };
    const auto l = cholesky(covariance(x, x) + eye<double, points>() * exp(2. * log_noise));
    const auto weights = cholesky_solve(l, y);
    const tensor loss =
        0.5 * reduce_sum(y * weights) + reduce_sum(log(diag_part(l))) + 0.5 * points * std::log(2 * std::numbers::pi);
    const auto train = adam(0.05f).minimize(loss);

    const auto mean = matmul(covariance(at, x), weights);
    const auto explained = matrix_triangular_solve(l, covariance(x, at));
    const tensor deviation = sqrt(exp(2. * log_height) - reduce_sum<0>(square(explained)));

    const session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), x, y);
    const double before = std::get<0>(step(xs, ys));
    for (int i = 0; i < 300; ++i) step(xs, ys);
    const double after = s.run(loss, feed(x, xs), feed(y, ys));
    const double length = std::exp(s.run(log_length)), height = std::exp(s.run(log_height)),
                 found_noise = std::exp(s.run(log_noise));
    std::printf("negative log likelihood %.2f, after training %.2f\n", before, after);
    std::printf("length %.3f  height %.3f  noise %.3f (true: %.3f)\n\n", length, height, found_noise, true_noise);

    const auto predict = s.make_callable(std::tuple(mean, deviation), x, y, at);
    const auto [m, d] = predict(xs, ys, grid);
    draw(m, d);

    double worst = 0;
    std::size_t inside = 0;
    for (std::size_t i = 0; i < places; ++i) {
        const double error = std::abs(m(i, 0) - truth(grid(i, 0)));
        inside += error <= 3 * d(i) + 0.02;
        if (std::abs(grid(i, 0)) > 0.4 && std::abs(grid(i, 0)) < 2.2) worst = std::max(worst, error);
    }
    std::printf("\nlargest error near the data %.3f; %zu of %td places within three deviations\n", worst, inside,
                static_cast<std::ptrdiff_t>(places));
    expect(after < before - 10, "training makes the data more likely");
    expect(std::abs(found_noise - true_noise) < 0.04, "the noise is found");
    expect(worst < 0.2, "the mean follows the truth where there are data");
    expect(d(places / 2) > 1.2 * d(places / 4), "the gap in the data is uncertain");
    expect(inside > places * 9 / 10, "the truth lies within the bounds");
}
