// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/layer_norm_lstm_cell.hpp>

#include <cmath>

#include <rill/core/array_text.hpp>
#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>
#include <rill/train/recurrent.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_train_layer_norm_lstm_cell {

using row = std::vector<double>;

row normalized(row x, const row& gamma, const row& beta) {
    double mean = 0, variance = 0;
    const auto n = static_cast<double>(x.size());
    for (const double v : x) mean += v / n;
    for (const double v : x) variance += (v - mean) * (v - mean) / n;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = (x[i] - mean) / std::sqrt(variance + 1e-12) * gamma[i] + beta[i];
    return x;
}

double squash(double x) { return 1 / (1 + std::exp(-x)); }

TEST_CASE("layer_norm_lstm_cell: variables have TensorFlow's names") {
    const graph g;
    const graph_scope here(g);
    const layer_norm_lstm_cell<3, 2> cell("lstm");
    std::vector<std::string> names;
    for (const auto& v : trainable_variables()) names.push_back(v.node()->name + to_string(v.static_shape()));
    CHECK(names == std::vector<std::string>{"lstm/kernel[5, 8]", "lstm/input/gamma[2]", "lstm/input/beta[2]",
                                            "lstm/transform/gamma[2]", "lstm/transform/beta[2]", "lstm/forget/gamma[2]",
                                            "lstm/forget/beta[2]", "lstm/output/gamma[2]", "lstm/output/beta[2]",
                                            "lstm/state/gamma[2]", "lstm/state/beta[2]"});
}

TEST_CASE("layer_norm_lstm_cell: two steps equal a plain loop, with gradients to second order") {
    constexpr std::size_t units = 3, in = 2, batch = 2;
    const graph g;
    const graph_scope here(g);
    g.set_seed(6);
    const placeholder<double, dyn, 2, 2> x("x"); // [batch, time, in]
    const layer_norm_lstm_cell<2, 3, double> cell("lstm", {.forget_bias = 0.5, .gain = 1.25, .shift = 0.125});
    const auto [outputs, state] = dynamic_rnn(cell, x);
    const session s(g);
    s.run(global_variables_initializer());
    const row k = op_test::reals(s.run(fetch("lstm/kernel:0"))), gamma(units, 1.25), beta(units, 0.125);
    xt::xtensor<double, 3> at({batch, 2, in});
    const auto drawn = op_test::points<double>({-1, 1}, static_cast<index_t>(at.size()));
    std::copy(drawn.begin(), drawn.end(), at.begin());
    std::vector<double> wanted;
    row last_c;
    for (std::size_t b = 0; b < batch; ++b) {
        row c(units), h(units);
        for (std::size_t t = 0; t < 2; ++t) {
            row all(4 * units);
            for (std::size_t n = 0; n < all.size(); ++n) {
                for (std::size_t i = 0; i < in; ++i) all[n] += at(b, t, i) * k[i * all.size() + n];
                for (std::size_t i = 0; i < units; ++i) all[n] += h[i] * k[(in + i) * all.size() + n];
            }
            const auto part = [&](std::size_t p) {
                return normalized({&all[p * units], &all[p * units] + units}, gamma, beta);
            };
            const row i = part(0), j = part(1), f = part(2), o = part(3);
            for (std::size_t n = 0; n < units; ++n) c[n] = c[n] * squash(f[n] + 0.5) + squash(i[n]) * std::tanh(j[n]);
            c = normalized(c, gamma, beta);
            for (std::size_t n = 0; n < units; ++n) h[n] = std::tanh(c[n]) * squash(o[n]);
            wanted.insert(wanted.end(), h.begin(), h.end());
        }
        last_c.insert(last_c.end(), c.begin(), c.end());
    }
    const auto [y, c] = s.run(std::tuple(outputs, std::get<0>(state)), feed(x, at));
    CHECK(op_test::far_apart({y.begin(), y.end()}, wanted, 1e-10) == "");
    CHECK(op_test::far_apart({c.begin(), c.end()}, last_c, 1e-10) == "");
    op_test::gradient_check{s, {x}, {op_test::make_array<double>({2, 2, 2}, drawn)}, 1e-5}.check(
        any_tensor(reduce_sum(outputs * outputs)), 2, "layer_norm");
}

TEST_CASE("layer_norm_lstm_cell: drops candidates while it trains") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(2);
    const placeholder<bool> training("training");
    const layer_norm_lstm_cell<2, 64> cell("lstm", {.dropout_rate = 0.5, .training = training});
    const layer_norm_lstm_cell<dyn, dyn> quiet("quiet", 2, 3);
    CHECK(quiet.input_size() == 2);
    const auto [y, next] = cell(constant({{1.f, -1.f}}), cell.zero_state<1>());
    const session s(g);
    s.run(global_variables_initializer());
    const auto run = [&](bool trains) { return op_test::list(s.run(y, feed(training, trains))); };
    CHECK(run(false) == run(false));
    CHECK(run(true) != run(true)); // each run draws anew
    CHECK(run(true) != run(false));
    CHECK_THROWS_WITH((layer_norm_lstm_cell<2, 3>("refused", {.dropout_rate = 1})), contains("the rate is 1"));
}

} // namespace test_train_layer_norm_lstm_cell
