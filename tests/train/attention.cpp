// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/attention.hpp>

#include <cmath>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/subscript.hpp>
#include <rill/session/session.hpp>

#include "ops/harness.hpp"

using namespace rill;

namespace test_train_attention {

using numbers = std::vector<double>;

numbers values_of(const session& s, const std::string& name) { return op_test::reals(s.run(fetch(name + ":0"))); }

/// Row i of x times a matrix [.., n].
numbers times(const numbers& x, const numbers& matrix, std::size_t n) {
    numbers y(n);
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < n; ++j) y[j] += x[i] * matrix[i * n + j];
    return y;
}

/// The context and the alignments of one example: a softmax of scores of the first `length` steps.
template <class Score>
std::pair<numbers, numbers> plain(const std::vector<numbers>& memory, std::size_t length, const Score& score) {
    numbers weights(memory.size()), context(memory[0].size());
    double sum = 0;
    for (std::size_t t = 0; t < length; ++t) sum += weights[t] = std::exp(score(memory[t]));
    for (std::size_t t = 0; t < length; ++t) {
        weights[t] /= sum;
        for (std::size_t i = 0; i < context.size(); ++i) context[i] += weights[t] * memory[t][i];
    }
    return {context, weights};
}

TEST_CASE("attention: contexts and alignments beside a plain loop, gradients to second order") {
    for (const bool scaled : {false, true}) {
        const graph g;
        const graph_scope here(g);
        g.set_seed(6);
        const placeholder<double, 2, 3, 2> memory("memory");
        const placeholder<double, 2, 4> query("query");
        const attention_options o{.lengths = {3, 1}, .scaled = scaled};
        const auto luong = luong_attention<4>("luong", memory, o);
        const auto bahdanau = bahdanau_attention<5, 4>("bahdanau", memory, o);
        const auto [a, a_weights] = luong(query);
        const auto [b, b_weights] = bahdanau(query);
        const session s(g);
        s.run(global_variables_initializer());
        const auto at_memory = op_test::point_array<double>({-1, 1}, {2, 3, 2}),
                   at_query = op_test::point_array<double>({-1, 1}, {2, 4}, 1);
        const numbers m = op_test::reals(at_memory), q = op_test::reals(at_query);
        const auto fetched =
            s.run(std::vector<any_tensor>{a, a_weights, b, b_weights}, feed(memory, at_memory), feed(query, at_query));
        const numbers keys_a = values_of(s, "luong/memory_layer/kernel"),
                      keys_b = values_of(s, "bahdanau/memory_layer/kernel"),
                      asks = values_of(s, "bahdanau/query_layer/kernel");
        numbers v = values_of(s, "bahdanau/attention_v");
        double factor = 1;
        if (scaled) {
            factor = values_of(s, "luong/attention_g")[0];
            double squares = 0;
            for (const double x : v) squares += x * x;
            for (double& x : v) x *= values_of(s, "bahdanau/attention_g")[0] / std::sqrt(squares);
            CHECK(values_of(s, "bahdanau/attention_g")[0] == Approx(std::sqrt(0.2)));
        }
        numbers wanted[4];
        for (std::size_t e = 0; e < 2; ++e) {
            std::vector<numbers> rows;
            for (std::size_t t = 0; t < 3; ++t) rows.push_back({m[e * 6 + t * 2], m[e * 6 + t * 2 + 1]});
            const numbers asked(&q[e * 4], &q[e * 4] + 4);
            const std::size_t length = e == 0 ? 3 : 1;
            const auto one = plain(rows, length, [&](const numbers& state) {
                const numbers key = times(state, keys_a, 4);
                double sum = 0;
                for (std::size_t i = 0; i < 4; ++i) sum += key[i] * asked[i];
                return factor * sum;
            });
            const auto two = plain(rows, length, [&](const numbers& state) {
                const numbers key = times(state, keys_b, 5), by = times(asked, asks, 5);
                double sum = 0;
                for (std::size_t i = 0; i < 5; ++i) sum += v[i] * std::tanh(key[i] + by[i]);
                return sum;
            });
            const numbers* const parts[] = {&one.first, &one.second, &two.first, &two.second};
            for (std::size_t k = 0; k < 4; ++k) wanted[k].insert(wanted[k].end(), parts[k]->begin(), parts[k]->end());
        }
        for (std::size_t k = 0; k < 4; ++k)
            CHECK(op_test::far_apart(op_test::reals(fetched[k]), wanted[k], 1e-12) == "");
        const op_test::gradient_check by{s, {memory, query}, {at_memory, at_query}, 1e-6};
        by.check(a, 2, "luong");
        by.check(b, 2, "bahdanau");
    }
}

TEST_CASE("attention_cell: one step beside its parts, and a decoder from an encoder's state") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(6);
    const placeholder<float, dyn, 5, 3> x("x");
    const gru_cell<3, 4> encoder("encoder");
    const auto [states, last] = dynamic_rnn(encoder, x);
    const auto attention = luong_attention<4>("attention", states);
    const gru_cell<2 + 6, 4> inner("inner");
    const auto cell = attention_cell<6>("decoder", inner, attention);
    static_assert(decltype(cell)::inputs == 2 && decltype(cell)::outputs == 6);
    const placeholder<float, dyn, 2, 2> in("in");
    const auto [outputs, end] = dynamic_rnn(cell, in, cell.state_of(last));
    // the same, step by step
    const tensor<float, 8, 6> kernel(any_tensor(trainable_variables("decoder")[0]));
    tensor<float, dyn, 4> h = last;
    tensor<float, dyn, 6> attended(zeros<float>(dims{2, 6}));
    for (int t = 0; t < 2; ++t) {
        const tensor<float, dyn, 2> step = in(all, t);
        const auto [y, next] = inner(concat<1>(step, attended), h);
        const auto [context, alignments] = attention(y);
        h = next;
        attended = matmul(concat<1>(y, context), kernel);
    }
    const session s(g);
    s.run(global_variables_initializer());
    xt::xtensor<float, 3> at_x({2, 5, 3}, 0.3f), at_in({2, 2, 2}, -0.5f);
    at_x(1, 2, 0) = 2;
    const auto [got, wanted, state] =
        s.run(std::tuple(outputs, attended, std::get<1>(end)), feed(x, at_x), feed(in, at_in));
    for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < 6; ++i) {
            CHECK(got(b, 1, i) == Approx(wanted(b, i)));
            CHECK(state(b, i) == Approx(wanted(b, i)));
        }
}

TEST_CASE("attention: lengths beyond the memory") {
    const graph g;
    const graph_scope here(g);
    const tensor memory = zeros<float, 2, 3, 2>();
    const placeholder<int, dyn> n("n");
    const auto attention = luong_attention<2>("attention", memory, {.lengths = n});
    const auto [context, alignments] = attention(zeros<float, 2, 2>());
    const session s(g);
    s.run(global_variables_initializer());
    CHECK(s.run(alignments, feed(n, std::vector<int>{1, 3}))(0, 0) == 1.f);
    CHECK_THROWS_WITH(s.run(context, feed(n, std::vector<int>{1, 4})), contains("length 4 at [1]"));
    const auto none = s.run(alignments, feed(n, std::vector<int>{0, 3})); // a sequence without steps
    for (std::size_t t = 0; t < 3; ++t) CHECK(none(0, t) == 0.f);
}

} // namespace test_train_attention
