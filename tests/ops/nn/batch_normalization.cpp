// SPDX-License-Identifier: BSD-3-Clause
// Functions that are made of other ops: values against plain loops, and gradients.
#include <rill/ops/nn/batch_normalization.hpp>

#include <rill/ops/nn/crelu.hpp>
#include <rill/ops/nn/l2_normalize.hpp>
#include <rill/ops/nn/log_poisson_loss.hpp>
#include <rill/ops/nn/lrn.hpp>
#include <rill/ops/nn/weighted_cross_entropy.hpp>
#include <rill/ops/nn/xw_plus_b.hpp>
#include <rill/ops/nn/zero_fraction.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_ops_nn_batch_normalization {

using array = xt::xarray<double>;

/// Calls f on each row of the last axis of x, which may change it.
template <class F> array by_rows(array x, const F& f) {
    const std::size_t n = x.shape().back();
    std::vector<double> row(n);
    for (std::size_t at = 0; at < x.size(); at += n) {
        for (std::size_t i = 0; i < n; ++i) row[i] = x.flat(at + i);
        for (std::size_t i = 0; i < n; ++i) x.flat(at + i) = f(row, i);
    }
    return x;
}

TEST_CASE("fused_batch_norm: values, mean and variance, and gradients") {
    const auto normalised = [](const array& x, const array& scale, const array& offset) {
        array y = x;
        const std::size_t c = scale.size(), n = x.size() / c;
        for (std::size_t k = 0; k < c; ++k) {
            double mean = 0, variance = 0;
            for (std::size_t i = 0; i < n; ++i) mean += x.flat(i * c + k) / static_cast<double>(n);
            for (std::size_t i = 0; i < n; ++i)
                variance += std::pow(x.flat(i * c + k) - mean, 2) / static_cast<double>(n);
            for (std::size_t i = 0; i < n; ++i)
                y.flat(i * c + k) = (x.flat(i * c + k) - mean) / std::sqrt(variance + 0.1) * scale(k) + offset(k);
        }
        return y;
    };
    op_test::node<double, 4, 1, 1>(
        [](const auto& x, const auto& scale, const auto& offset) {
            return std::get<0>(fused_batch_norm(x, scale, offset, 0.1));
        },
        normalised, {{2, 2, 3, 2}, {2}, {2}}, {.order = 2, .ulps = 1e4});
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor x = constant({{1., 2.}, {3., 6.}, {5., 7.}});
    const tensor ones = constant({1., 1.});
    const auto [y, mean, variance] = fused_batch_norm(x, ones, ones);
    const auto [m, v] = s.run(std::tuple(mean, variance));
    CHECK(m(0) == Approx(3));
    CHECK(m(1) == Approx(5));
    CHECK(v(0) == Approx(4)); // 8 / 2
    CHECK(v(1) == Approx(7)); // 14 / 2
}

TEST_CASE("l2_normalize: squares that leave the range, axes at run time, and the least norm") {
    const graph g;
    const graph_scope here(g);
    const session s(g);
    const tensor halves = cast<half>(constant({{200.f, 200.f, 200.f}, {3.f, 0.f, 4.f}}));
    const double third = std::sqrt(1. / 3);
    CHECK(op_test::far_apart(op_test::reals(s.run(any_tensor(sealed(cast<double>(l2_normalize<1>(halves)))))),
                             {third, third, third, .6, 0, .8}, 1e-3) == "");
    const placeholder<float, 3> x("x");
    const tensor unit = l2_normalize(x);
    const auto [slope] = gradients(gather(unit, 1), x);
    const auto [value, step] = s.run(std::tuple(unit, slope), feed(x, {1e20f, 1.f, 1.f}));
    CHECK(value(0) == 1.f);
    CHECK(value(1) == Approx(1e-20));
    CHECK(step(1) == Approx(1e-20));
    const auto small = s.run(unit, feed(x, {1e-30f, 0.f, 0.f}));
    CHECK(small(0) == Approx(1e-24)); // over the root of 1e-12
    const tensor m = constant({{3., 4.}, {6., 8.}});
    const auto text = [&](const any_tensor& y) { return to_string(s.run(y)); };
    CHECK(text(tensor(l2_normalize(m, 1))) == text(tensor(l2_normalize<1>(m))));
    CHECK(text(tensor(l2_normalize(m, 1, 400.))) == "float64 [2, 2] {{0.15, 0.2}, {0.3, 0.4}}");
    CHECK(text(tensor(l2_normalize<1>(m, 400.))) == text(tensor(l2_normalize(m, 1, 400.))));
    CHECK(text(l2_normalize(any_tensor(m), {0, 1})) == text(tensor(l2_normalize(m))));
}

TEST_CASE("batch_normalization: values, and gradients to all five") {
    op_test::node<double, 3, 1, 1, 1, 1>(
        [](const auto& x, const auto& mean, const auto& variance, const auto& offset, const auto& scale) {
            return sealed(batch_normalization(x, mean, variance, offset, scale, 0.25));
        },
        [](const array& x, const array& mean, const array& variance, const array& offset, const array& scale) {
            array y = x;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const std::size_t k = i % 2;
                y.flat(i) = (x.flat(i) - mean(k)) / std::sqrt(variance(k) + 0.25) * scale(k) + offset(k);
            }
            return y;
        },
        {{2, 3, 2}, {2}, {2}, {2}, {2}}, {.in = {{-2, 2}, {-1, 1}, {0.5, 2}, {-1, 1}, {0.5, 2}}, .ulps = 1e3});
}

TEST_CASE("lrn, l2_normalize, crelu, weighted_cross_entropy, log_poisson_loss: values and gradients") {
    op_test::node<double, 4>(
        [](const auto& x) {
            return lrn(tensor<double, dyn, dyn, dyn, 5>(any_tensor(x)),
                       {.depth_radius = 1, .bias = 2, .alpha = 0.5, .beta = 0.75});
        },
        [](const array& x) {
            return by_rows(x, [](const auto& row, std::size_t i) {
                double sum = 0;
                for (std::size_t j = i > 0 ? i - 1 : 0; j < std::min(row.size(), i + 2); ++j) sum += row[j] * row[j];
                return row[i] / std::pow(2 + 0.5 * sum, 0.75);
            });
        },
        {{2, 1, 2, 5}}, {.ulps = 1e3});
    op_test::node<double, 2>([](const auto& x) { return l2_normalize<1>(x); },
                             [](const array& x) {
                                 return by_rows(x, [](const auto& row, std::size_t i) {
                                     double sum = 0;
                                     for (const double v : row) sum += v * v;
                                     return row[i] / std::sqrt(sum);
                                 });
                             },
                             {{3, 4}});
    op_test::node<double, 2>([](const auto& x) { return l2_normalize(x, {-1}); },
                             [](const array& x) {
                                 return by_rows(x, [](const auto& row, std::size_t i) {
                                     double sum = 0;
                                     for (const double v : row) sum += v * v;
                                     return row[i] / std::sqrt(sum);
                                 });
                             },
                             {{3, 4}});
    op_test::node<double, 2>([](const auto& x) { return crelu(x); },
                             [](const array& x) {
                                 array y(std::vector<std::size_t>{x.shape(0), 2 * x.shape(1)});
                                 for (std::size_t i = 0; i < x.shape(0); ++i)
                                     for (std::size_t j = 0; j < x.shape(1); ++j) {
                                         y(i, j) = std::max(x(i, j), 0.);
                                         y(i, x.shape(1) + j) = std::max(-x(i, j), 0.);
                                     }
                                 return y;
                             },
                             {{2, 3}});
    op_test::node<double, 1, 1>([](const auto& x, const auto& z) { return sealed(weighted_cross_entropy(x, z, 3.)); },
                                [](const array& x, const array& z) {
                                    array y = x;
                                    for (std::size_t i = 0; i < x.size(); ++i)
                                        y(i) = -3 * z(i) * std::log(1 / (1 + std::exp(-x(i)))) -
                                               (1 - z(i)) * std::log(1 / (1 + std::exp(x(i))));
                                    return y;
                                },
                                {{6}, {6}}, {.in = {{-2, 2}, {0, 1}}, .ulps = 1e3});
    op_test::node<double, 1, 1>([](const auto& z, const auto& x) { return sealed(log_poisson_loss(z, x)); },
                                [](const array& z, const array& x) {
                                    array y = x;
                                    for (std::size_t i = 0; i < x.size(); ++i) y(i) = std::exp(x(i)) - x(i) * z(i);
                                    return y;
                                },
                                {{4}, {4}}, {.ulps = 1e3});
    op_test::node<double, 2, 2, 1>(
        [](const auto& x, const auto& w, const auto& b) { return sealed(xw_plus_b(x, w, b)); },
        [](const array& x, const array& w, const array& b) {
            array y(std::vector<std::size_t>{x.shape(0), w.shape(1)});
            for (std::size_t i = 0; i < x.shape(0); ++i)
                for (std::size_t j = 0; j < w.shape(1); ++j) {
                    y(i, j) = b(j);
                    for (std::size_t k = 0; k < x.shape(1); ++k) y(i, j) += x(i, k) * w(k, j);
                }
            return y;
        },
        {{2, 3}, {3, 2}, {2}});
    const graph g;
    const graph_scope here(g);
    const session s(g);
    CHECK(s.run(zero_fraction(tensor(constant({0, 1, 0, 0})))) == 0.75f);
    CHECK(s.run(any_tensor(zero_fraction(any_tensor(constant({0., 1.}))))).value<float>() == 0.5f);
    CHECK_THROWS_WITH(zero_fraction(any_tensor()), contains("zero_fraction"));
}

} // namespace test_ops_nn_batch_normalization
