// SPDX-License-Identifier: BSD-3-Clause
// Linear regression without a session: how wide an iris's petal is, from its other three measures. First by gradients that
// are looked at and handed on, then by steps in one call; beside least squares.
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include <rill/data/csv.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

/// The mean squared error of least squares, the simple way: normal equations of the three measures and a one.
double least_squares(const xt::xtensor<float, 2>& x, const xt::xtensor<float, 1>& y) {
    constexpr std::size_t n = 4;
    std::array<std::array<double, n + 1>, n> a{};
    const auto measure = [&](std::size_t row, std::size_t k) { return k < 3 ? double(x(row, k)) : 1.; };
    for (std::size_t row = 0; row < y.size(); ++row)
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < n; ++k) a[i][k] += measure(row, i) * measure(row, k);
            a[i][n] += measure(row, i) * y(row);
        }
    for (std::size_t i = 0; i < n; ++i) { // positive definite: no pivots are needed
        const double pivot = a[i][i];
        for (auto& v : a[i]) v /= pivot;
        for (std::size_t k = 0; k < n; ++k) {
            const double factor = a[k][i];
            for (std::size_t j = 0; k != i && j <= n; ++j) a[k][j] -= factor * a[i][j];
        }
    }
    double sum = 0;
    for (std::size_t row = 0; row < y.size(); ++row) {
        double said = 0;
        for (std::size_t i = 0; i < n; ++i) said += a[i][n] * measure(row, i);
        sum += (said - y(row)) * (said - y(row));
    }
    return sum / static_cast<double>(y.size());
}

} // namespace

int main() {
    const auto table = read_csv<float>(RILL_EXAMPLE_DATA "/iris.csv").values;
    const std::size_t rows = table.shape(0);
    xt::xtensor<float, 2> x(std::array<std::size_t, 2>{rows, 3});
    xt::xtensor<float, 1> y(std::array<std::size_t, 1>{rows});
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t k = 0; k < 3; ++k) x(i, k) = table(i, k);
        y(i) = table(i, 3);
    }

    const eager_variable<float, 3> w("w", zeros());
    const eager_variable<float> b("b", 0.f);
    const auto loss = [](auto weights, auto bias, auto measures, auto width) {
        return reduce_mean(square(matvec(measures, weights) + bias - width));
    };
    const eager_optimizer train(adam(0.02f), w, b);

    const auto f = value_and_grad<2>(loss);
    float error = 0, before = 0;
    for (int i = 0; i < 100; ++i) {
        const auto [value, dw, db] = f(w, b, x, y);
        train.apply(dw, db); // they are plain arrays: to be printed, clipped, added up
        if (i % 25 == 0) std::printf("step %3d  error %.5f  slope by the bias %+.5f\n", i, value, db);
        if (i == 0) before = value;
        error = value;
    }
    expect(error < 0.1f * before, "a hundred steps by hand explain most of it");

    const auto step = train.minimize(loss); // the same steps, each in one call
    for (int i = 0; i < 3000; ++i) error = step(x, y);

    const double best = least_squares(x, y);
    const auto weights = w.value();
    std::printf("petal width = %.3f sepal length %+.3f sepal width %+.3f petal length %+.3f\n", weights(0), weights(1),
                weights(2), b.value());
    std::printf("mean squared error %.5f, of least squares %.5f\n", error, best);
    expect(error > best - 1e-6 && error < best * 1.01, "it comes close to least squares, from above");
}
