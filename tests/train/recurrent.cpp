// SPDX-License-Identifier: BSD-3-Clause
#include <rill/train/recurrent.hpp>

#include <cmath>
#include <functional>
#include <random>

#include <rill/ops/array/placeholder.hpp>
#include <rill/ops/array/stack.hpp>
#include <rill/ops/array/subscript.hpp>
#include <rill/ops/array/unstack.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/session/session.hpp>

#include "ops/harness.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_train_recurrent {

using rows = std::vector<std::vector<double>>;

double squash(double x) { return 1 / (1 + std::exp(-x)); }

/// A matrix of the host, and its product with a row.
struct matrix {
    std::vector<double> values;
    std::size_t columns;

    std::vector<double> times(const std::vector<double>& x, const std::vector<double>& plus) const {
        auto y = plus;
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = 0; j < columns; ++j) y[j] += x[i] * values[i * columns + j];
        return y;
    }
};

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// The values of a variable in a session.
std::vector<double> values_of(const session& s, const std::string& name) {
    return op_test::reals(s.run(fetch(name + ":0")));
}

/// One step of a plain cell: the parts of the state, the last of which is the output.
using plain_cell = std::function<rows(const std::vector<double>& x, const rows& state)>;

plain_cell plain_rnn(const session& s, std::size_t units, const std::string& name = "cell") {
    const auto k = values_of(s, name + "/kernel"), b = values_of(s, name + "/bias");
    return [=](const auto& x, const rows& state) {
        auto h = matrix{k, units}.times(joined(x, state[0]), b);
        for (double& v : h) v = std::tanh(v);
        return rows{h};
    };
}

plain_cell plain_lstm(const session& s, std::size_t units, const lstm_options& o, bool projects,
                      const std::string& name = "cell") {
    const auto k = values_of(s, name + "/kernel"), b = values_of(s, name + "/bias");
    std::vector<double> wf(units), wi(units), wo(units), p;
    if (o.peepholes)
        wf = values_of(s, name + "/w_f_diag"), wi = values_of(s, name + "/w_i_diag"),
        wo = values_of(s, name + "/w_o_diag");
    if (projects) p = values_of(s, name + "/projection/kernel");
    return [=](const auto& x, const rows& state) {
        const auto all = matrix{k, 4 * units}.times(joined(x, state[1]), b);
        auto c = state[0], h = c;
        const auto bounded = [](double v, double most) { return most > 0 ? std::clamp(v, -most, most) : v; };
        for (std::size_t n = 0; n < units; ++n) {
            const double before = c[n];
            const double i = all[n] + wi[n] * before, j = all[units + n], f = all[2 * units + n] + wf[n] * before;
            c[n] = bounded(before * squash(f + o.forget_bias) + squash(i) * std::tanh(j), o.cell_clip);
            h[n] = std::tanh(c[n]) * squash(all[3 * units + n] + wo[n] * c[n]);
        }
        if (projects) {
            const std::size_t columns = p.size() / units;
            h = matrix{p, columns}.times(h, std::vector<double>(columns));
            for (double& v : h) v = bounded(v, o.projection_clip);
        }
        return rows{c, h};
    };
}

plain_cell plain_gru(const session& s, std::size_t units, const std::string& name = "cell") {
    const auto gk = values_of(s, name + "/gates/kernel"), gb = values_of(s, name + "/gates/bias");
    const auto ck = values_of(s, name + "/candidate/kernel"), cb = values_of(s, name + "/candidate/bias");
    return [=](const auto& x, const rows& state) {
        const auto gates = matrix{gk, 2 * units}.times(joined(x, state[0]), gb);
        auto shown = state[0], h = state[0];
        for (std::size_t n = 0; n < units; ++n) shown[n] *= squash(gates[n]);
        const auto candidate = matrix{ck, units}.times(joined(x, shown), cb);
        for (std::size_t n = 0; n < units; ++n) {
            const double u = squash(gates[units + n]);
            h[n] = u * h[n] + (1 - u) * std::tanh(candidate[n]);
        }
        return rows{h};
    };
}

/// A cell of the host whose output may differ from its state: the widths of the parts of the state and of the output, and one step.
struct plain_step {
    std::vector<std::size_t> widths;
    std::size_t outputs;
    std::function<std::pair<std::vector<double>, rows>(const std::vector<double>& x, const rows& state)> run;
};

/// The output is the last part of the state.
plain_step step_of(const plain_cell& cell, const std::vector<std::size_t>& widths) {
    return {widths, widths.back(), [cell](const auto& x, const rows& state) {
                const rows next = cell(x, state);
                return std::pair(next.back(), next);
            }};
}

plain_step residual_step(const plain_step& inner) {
    return {inner.widths, inner.outputs, [run = inner.run](const auto& x, const rows& state) {
                auto [y, next] = run(x, state);
                for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
                return std::pair(y, next);
            }};
}

plain_step stacked_step(const plain_step& a, const plain_step& b) {
    auto widths = a.widths;
    widths.insert(widths.end(), b.widths.begin(), b.widths.end());
    return {widths, b.outputs, [a, b](const auto& x, const rows& state) {
                const auto border = state.begin() + static_cast<std::ptrdiff_t>(a.widths.size());
                auto [y, next] = a.run(x, rows(state.begin(), border));
                const auto [z, above] = b.run(y, rows(border, state.end()));
                next.insert(next.end(), above.begin(), above.end());
                return std::pair(z, next);
            }};
}

struct run_over {
    std::vector<double> outputs; // [batch, time, outputs]
    rows last;                   // of each part of the state [batch, n]
};

/// The plain loop: each sequence to its end, from either end.
run_over plain_run(const plain_step& cell, const xt::xtensor<double, 3>& x, const std::vector<int>& lengths,
                   bool reverse) {
    const std::size_t time = x.shape(1);
    run_over all{std::vector<double>(x.shape(0) * time * cell.outputs), rows(cell.widths.size())};
    for (std::size_t b = 0; b < x.shape(0); ++b) {
        rows state;
        for (const auto n : cell.widths) state.emplace_back(n);
        const auto length = static_cast<std::size_t>(lengths[b]);
        for (std::size_t k = 0; k < length; ++k) {
            const std::size_t t = reverse ? length - 1 - k : k;
            std::vector<double> in, output;
            for (std::size_t i = 0; i < x.shape(2); ++i) in.push_back(x(b, t, i));
            std::tie(output, state) = cell.run(in, state);
            std::copy(output.begin(), output.end(), &all.outputs[(b * time + t) * cell.outputs]);
        }
        for (std::size_t p = 0; p < cell.widths.size(); ++p) all.last[p] = joined(all.last[p], state[p]);
    }
    return all;
}

/// Arrays [.., a] and [.., b] side by side, [.., a + b].
std::vector<double> side_by_side(const std::vector<double>& left, std::size_t a, const std::vector<double>& right,
                                 std::size_t b) {
    std::vector<double> both;
    for (std::size_t i = 0; i * a < left.size(); ++i) {
        both.insert(both.end(), &left[i * a], &left[i * a] + a);
        both.insert(both.end(), &right[i * b], &right[i * b] + b);
    }
    return both;
}

xt::xtensor<double, 3> sequences(std::size_t batch, std::size_t time, std::size_t inputs) {
    xt::xtensor<double, 3> x({batch, time, inputs});
    std::mt19937 random(4);
    for (double& v : x) v = std::uniform_real_distribution<double>(-1, 1)(random);
    return x;
}

/// The parts of a state as untyped handles.
template <class S> std::vector<any_tensor> parts_of(const S& state) {
    std::vector<any_tensor> all;
    detail::visit_leaves(state, [&](const auto& leaf) { all.emplace_back(leaf); });
    return all;
}

/// A cell of three inputs in dynamic_rnn, static_rnn and bidirectional_rnn, with lengths and without, beside the plain loop.
template <class Make>
void check_cell(const Make& make, const std::function<plain_cell(const session&)>& plain,
                const std::vector<std::size_t>& widths) {
    const graph g;
    const graph_scope here(g);
    g.set_seed(5);
    const placeholder<double, dyn, 4, 3> x("x");
    const placeholder<int, dyn> n("n");
    const auto cell = make();
    const session s(g);
    s.run(global_variables_initializer());
    const auto reference = plain(s);
    const auto at = sequences(3, 4, 3);
    for (const bool with_lengths : {true, false}) {
        const std::vector<int> lengths = with_lengths ? std::vector<int>{4, 0, 2} : std::vector<int>{4, 4, 4};
        const rnn_options options = with_lengths ? rnn_options{.lengths = n} : rnn_options{};
        const auto check = [&](const std::vector<any_tensor>& outputs, const auto& state, bool reverse) {
            const auto wanted = plain_run(step_of(reference, widths), at, lengths, reverse);
            std::vector<double> got;
            const auto fetched = s.run(outputs, feed(x, at), feed(n, lengths));
            if (outputs.size() == 1) {
                got = op_test::reals(fetched[0]);
            } else { // one for each step
                got.resize(wanted.outputs.size());
                const std::size_t out = widths.back();
                for (std::size_t t = 0; t < fetched.size(); ++t) {
                    const auto step = op_test::reals(fetched[t]);
                    for (std::size_t b = 0; b < 3; ++b)
                        std::copy_n(&step[b * out], out, &got[(b * fetched.size() + t) * out]);
                }
            }
            CHECK(op_test::far_apart(got, wanted.outputs, 1e-12) == "");
            const auto parts = s.run(parts_of(state), feed(x, at), feed(n, lengths));
            REQUIRE(parts.size() == widths.size());
            for (std::size_t p = 0; p < parts.size(); ++p)
                CHECK(op_test::far_apart(op_test::reals(parts[p]), wanted.last[p], 1e-12) == "");
        };
        const auto [outputs, state] = dynamic_rnn(cell, x, options);
        check({outputs}, state, false);
        const auto [steps, last] = static_rnn(cell, unstack<1>(x), options);
        check({steps.begin(), steps.end()}, last, false);
        const auto [both, states] = bidirectional_rnn(cell, cell, x, options);
        check({std::get<0>(both)}, std::get<0>(states), false);
        check({std::get<1>(both)}, std::get<1>(states), true);
        const auto [pairs, f_last, b_last] = static_bidirectional_rnn(cell, cell, unstack<1>(x), options);
        check({any_tensor(stack(pairs, 1)(all, all, slice_range{0, cell.output_size()}))}, f_last, false);
        check({any_tensor(stack(pairs, 1)(all, all, slice_range{cell.output_size(), 2 * cell.output_size()}))}, b_last,
              true);
        rnn_options swapped = options;
        swapped.time_major = true;
        const auto [turned, same] = dynamic_rnn(cell, transpose<1, 0, 2>(x), swapped);
        check({any_tensor(transpose<1, 0, 2>(turned))}, same, false);
    }
}

TEST_CASE("recurrent: cells and lengths equal a plain loop") {
    check_cell([] { return rnn_cell<3, 2, double>("cell", {.bias_initializer = 0.1}); },
               [](const session& s) { return plain_rnn(s, 2); }, {2});
    check_cell([] { return gru_cell<3, 2, double>("cell"); }, [](const session& s) { return plain_gru(s, 2); }, {2});
    for (const bool peepholes : {false, true}) {
        const lstm_options o{.forget_bias = 0.5, .peepholes = peepholes, .cell_clip = peepholes ? 0.2 : 0.};
        check_cell([&] { return lstm_cell<3, 2, double>("cell", o); },
                   [&](const session& s) { return plain_lstm(s, 2, o, false); }, {2, 2});
    }
    const lstm_options o{.peepholes = true, .projection_clip = 0.05, .bias_initializer = 0.2};
    check_cell([&] { return lstm_cell<3, 4, double, 2>("cell", o); },
               [&](const session& s) { return plain_lstm(s, 4, o, true); }, {4, 2});
    check_cell([&] { return lstm_cell<dyn, dyn, double>("cell", 3, 2); },
               [&](const session& s) { return plain_lstm(s, 2, {}, false); }, {2, 2});
}

TEST_CASE("recurrent: gradients through lengths, to second order") {
    const graph g;
    const graph_scope here(g);
    g.set_seed(3);
    const session s(g);
    const placeholder<double, 2, 3, 2> x("x");
    const auto at = op_test::point_array<double>({-1, 1}, {2, 3, 2});
    const auto check = [&](const auto& cell) {
        s.run(global_variables_initializer());
        const rnn_options options{.lengths = {3, 1}};
        const auto [outputs, state] = dynamic_rnn(cell, x, options);
        std::vector<any_tensor> sums{any_tensor(reduce_sum(outputs * outputs))};
        for (const auto& part : parts_of(state)) sums.push_back(any_tensor(reduce_sum(tensor<double, dyn, dyn>(part))));
        op_test::gradient_check{s, {x}, {at}, 1e-6}.check(any_tensor(add_n(sums)), 2, "dynamic_rnn");
        const auto [both, states] = bidirectional_rnn(cell, cell, x, options);
        op_test::gradient_check{s, {x}, {at}, 1e-6}.check(any_tensor(concat<2>(std::get<0>(both), std::get<1>(both))),
                                                          1, "bidirectional_rnn");
    };
    check(rnn_cell<2, 2, double>("rnn"));
    check(gru_cell<2, 2, double>("gru"));
    check(lstm_cell<2, 2, double, 1>("lstm", {.peepholes = true}));
}

/// A random cell beside the plain loop: values, last states, and gradients to second order.
template <class Cell>
void check_random(const session& s, const Cell& cell, const std::function<plain_step()>& plain, index_t inputs,
                  bool is_smooth, seeds::draws& draw) {
    s.run(global_variables_initializer());
    const plain_step reference = plain();
    const auto time = 1 + draw(4);
    const auto at = sequences(1 + draw(3), time, static_cast<std::size_t>(inputs));
    std::vector<int> lengths(at.shape(0), static_cast<int>(time));
    const bool with_lengths = draw(4) != 0;
    if (with_lengths)
        for (int& n : lengths) n = static_cast<int>(draw(time + 1));
    INFO("sequences " << at.shape(0) << " x " << time << " x " << inputs << ", lengths: " << with_lengths);
    const placeholder<double, dyn, dyn, dyn> x("x");
    const rnn_options options = with_lengths ? rnn_options{.lengths = lengths} : rnn_options{};
    const auto forward = plain_run(reference, at, lengths, false), backward = plain_run(reference, at, lengths, true);
    const auto check = [&](const any_tensor& outputs, const std::vector<double>& wanted) {
        CHECK(op_test::far_apart(op_test::reals(s.run(outputs, feed(x, at))), wanted, 1e-11) == "");
    };
    const auto check_parts = [&](const auto& state, const rows& wanted) {
        const auto parts = s.run(parts_of(state), feed(x, at));
        REQUIRE(parts.size() == wanted.size());
        for (std::size_t p = 0; p < parts.size(); ++p)
            CHECK(op_test::far_apart(op_test::reals(parts[p]), wanted[p], 1e-11) == "");
    };
    const auto [outputs, state] = dynamic_rnn(cell, x, options);
    check(outputs, forward.outputs);
    check_parts(state, forward.last);
    std::vector<tensor<double, dyn, dyn>> steps;
    for (index_t t = 0; t < static_cast<index_t>(time); ++t) steps.push_back(x(all, t, all));
    const auto [pairs, f_last, b_last] = static_bidirectional_rnn(cell, cell, steps, options);
    check(any_tensor(stack(pairs, 1)),
          side_by_side(forward.outputs, reference.outputs, backward.outputs, reference.outputs));
    check_parts(f_last, forward.last);
    check_parts(b_last, backward.last);
    if (!is_smooth) return;
    std::vector<any_tensor> sums{any_tensor(reduce_sum(outputs * outputs))};
    for (const auto& part : parts_of(state)) sums.push_back(any_tensor(reduce_sum(tensor<double, dyn, dyn>(part))));
    const auto batch = static_cast<index_t>(lengths.size());
    const auto values =
        op_test::make_array<double>({batch, static_cast<index_t>(time), inputs}, {at.begin(), at.end()});
    op_test::gradient_check{s, {x}, {values}, 1e-6}.check(any_tensor(add_n(sums)), 2, "dynamic_rnn");
}

TEST_CASE("recurrent: random cells, extents and lengths equal a plain loop, to second order", "[random]") {
    seeds::each(48, [](std::uint64_t seed) {
        seeds::draws draw(seed);
        const graph g;
        const graph_scope here(g);
        g.set_seed(seed);
        const session s(g);
        const auto one_of = [&](std::initializer_list<double> all) { return all.begin()[draw(all.size())]; };
        const auto in = static_cast<index_t>(1 + draw(3)), units = static_cast<index_t>(1 + draw(3));
        const auto n = static_cast<std::size_t>(units);
        lstm_options o{.forget_bias = one_of({0, 0.5, 1}),
                       .peepholes = draw(2) == 0,
                       .cell_clip = one_of({0, 0, 0.2}),
                       .bias_initializer = one_of({0, 0.1})};
        const bool is_smooth = o.cell_clip == 0;
        const cell_options with_bias{.bias_initializer = one_of({0, 0.3})};
        const auto rnn = [&](const char* name, index_t from) {
            return rnn_cell<dyn, dyn, double>(name, from, units, with_bias);
        };
        const auto gru = [&](const char* name, index_t from) {
            return gru_cell<dyn, dyn, double>(name, from, units, with_bias);
        };
        const auto lstm = [&](const char* name, index_t from) {
            return lstm_cell<dyn, dyn, double>(name, from, units, o);
        };
        const auto plain_of_rnn = [&](const char* name) { return step_of(plain_rnn(s, n, name), {n}); };
        const auto plain_of_gru = [&](const char* name) { return step_of(plain_gru(s, n, name), {n}); };
        const auto plain_of_lstm = [&](const char* name) { return step_of(plain_lstm(s, n, o, false, name), {n, n}); };
        const auto kind = draw(7);
        INFO("kind " << kind << ", " << in << " inputs, " << units << " units");
        switch (kind) {
        case 0: return check_random(s, rnn("a", in), [&] { return plain_of_rnn("a"); }, in, true, draw);
        case 1: return check_random(s, gru("a", in), [&] { return plain_of_gru("a"); }, in, true, draw);
        case 2: return check_random(s, lstm("a", in), [&] { return plain_of_lstm("a"); }, in, is_smooth, draw);
        case 3: {
            o.projection_clip = one_of({0, 0.05});
            const lstm_cell<dyn, dyn, double, 2> cell("a", in, units, o);
            return check_random(
                s, cell, [&] { return step_of(plain_lstm(s, n, o, true, "a"), {n, 2}); }, in,
                is_smooth && o.projection_clip == 0, draw);
        }
        case 4:
            return check_random(
                s, residual_cell(gru("a", units)), [&] { return residual_step(plain_of_gru("a")); }, units, true, draw);
        case 5:
            return check_random(
                s, stacked_cells(lstm("a", in), residual_cell(gru("b", units))),
                [&] { return stacked_step(plain_of_lstm("a"), residual_step(plain_of_gru("b"))); }, in, is_smooth,
                draw);
        default:
            return check_random(
                s, stacked_cells(gru("a", in), rnn("b", units)),
                [&] { return stacked_step(plain_of_gru("a"), plain_of_rnn("b")); }, in, true, draw);
        }
    });
}

TEST_CASE("recurrent: shapes by types, an initial state, sequences of unknown type") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 5, 3> x("x");
    const lstm_cell<3, 4> cell("lstm");
    const auto [outputs, state] = dynamic_rnn(cell, x);
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(outputs)>, tensor<float, dyn, 5, 4>>);
    static_assert(
        std::is_same_v<std::remove_cvref_t<decltype(state)>, std::tuple<tensor<float, dyn, 4>, tensor<float, dyn, 4>>>);
    const auto [fixed, last] = dynamic_rnn(cell, tensor(zeros<float, 2, 5, 3>()), cell.zero_state<2>());
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(std::get<1>(last))>, tensor<float, 2, 4>>);
    const session s(g);
    s.run(global_variables_initializer());
    // the first half, then the second from where that ended
    const xt::xtensor<float, 3> at = xt::cast<float>(sequences(2, 5, 3));
    const auto [early, middle] = dynamic_rnn(cell, slice<dyn, 2, 3>(x, {0, 0, 0}));
    const auto [late, end] = dynamic_rnn(cell, slice<dyn, 3, 3>(x, {0, 2, 0}), middle);
    const auto [whole, halves, e, f] =
        s.run(std::tuple(outputs, concat<1>(early, late), std::get<0>(state), std::get<0>(end)), feed(x, at));
    CHECK(op_test::list(whole) == op_test::list(halves));
    CHECK(op_test::list(e) == op_test::list(f));
    const any_tensor unknown = any_placeholder("unknown", dtype::float32);
    const auto [same, ended] = dynamic_rnn(cell, unknown, {.lengths = any_tensor(constant({5, 5}))});
    CHECK(op_test::list(s.run(same, feed(unknown, at))) == op_test::list(whole));
    // empty batches and no steps at all
    CHECK(s.run(outputs, feed(x, xt::xtensor<float, 3>({0, 5, 3}))).size() == 0);
    const auto [without, start] = dynamic_rnn(cell, unknown);
    const auto [by_bias] = gradients(reduce_sum(without), cell.bias);
    const auto [none, first, slope] =
        s.run(std::tuple(without, std::get<1>(start), by_bias), feed(unknown, xt::xtensor<float, 3>({2, 0, 3})));
    CHECK(none.size() == 0);
    CHECK(op_test::list(first) == std::vector<float>(8, 0.f));
    CHECK(op_test::list(slope) == std::vector<float>(16, 0.f));
    CHECK_THROWS_WITH(static_rnn(cell, std::vector<tensor<float, dyn, 3>>()),
                      contains("static_rnn: there are no steps"));
}

TEST_CASE("recurrent: lengths beyond the sequence, and of another batch") {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, 4, 3> x("x");
    const placeholder<int, dyn> n("n");
    const gru_cell<3, 2> cell("gru");
    const auto [outputs, state] = dynamic_rnn(cell, x, {.lengths = n});
    const auto [steps, last] = static_rnn(cell, unstack<1>(x), {.lengths = n});
    const session s(g);
    s.run(global_variables_initializer());
    const xt::xtensor<float, 3> at({2, 4, 3}, 0.5f);
    for (const any_tensor& y : {any_tensor(outputs), any_tensor(last)}) {
        CHECK_THROWS_WITH(s.run(y, feed(x, at), feed(n, std::vector<int>{4, 5})),
                          contains("length 5 at [1] is outside [0, 5)"));
        CHECK_THROWS_WITH(s.run(y, feed(x, at), feed(n, std::vector<int>{-1, 4})), contains("length -1 at [0]"));
        CHECK_THROWS_AS(s.run(y, feed(x, at), feed(n, std::vector<int>{1, 2, 3})), invalid_argument);
    }
    CHECK_THROWS_AS(dynamic_rnn(cell, x, {.lengths = any_tensor(constant({1.f}))}), invalid_argument);
    CHECK_THROWS_AS(dynamic_rnn(cell, any_tensor(zeros<float, 2, 4, 5>())), invalid_argument);
}

} // namespace test_train_recurrent
