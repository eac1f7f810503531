// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The small steps that are timed (steps.cpp) and whose instructions are counted (instructions/). Each function builds a model
// in the current graph and returns one step of it as a closure, which holds all that the step needs.

#include <memory>
#include <vector>

#include <rill/rill.hpp>

namespace models {

using namespace rill;

inline xt::xtensor<float, 2> matrix(std::size_t rows, std::size_t columns) {
    xt::xtensor<float, 2> m({rows, columns});
    for (std::size_t i = 0; i < m.size(); ++i) m.storage()[i] = static_cast<float>(i * 37 % 101) / 101.f - 0.5f;
    return m;
}
inline std::vector<int> classes(std::size_t n, int count) {
    std::vector<int> ids(n);
    for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<int>(i * 7 % static_cast<std::size_t>(count));
    return ids;
}

/// On the caller's thread, with variables that have their first values.
inline std::shared_ptr<session> ready() {
    auto s = std::make_shared<session>(current_graph(), session_options{.inter_op_threads = 0, .intra_op_threads = 0});
    s->run(global_variables_initializer());
    return s;
}

inline auto null_callable() {
    placeholder<float> x("x");
    auto s = ready();
    return [s, call = s->make_callable(x, x)] { return std::get<0>(call(1.f)); };
}

inline auto null_run_by_handle() {
    placeholder<float> x("x");
    return [s = ready(), x] { return s->run(x, feed(x, 1.f)); };
}

inline auto linear_regression_sgd() {
    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    auto train = gradient_descent(0.05f).minimize(reduce_mean(square(w * x + b - y)));
    auto s = ready();
    return [s, step = s->make_callable(train, x, y), xs = std::vector<float>(100, 0.5f),
            ys = std::vector<float>(100, 1.f)] { step(xs, ys); };
}

/// A step of a classifier, given its logits.
template <class Logits, class X>
auto classifier_step(const Logits& logits, const X& x, std::size_t batch, std::size_t features, int count) {
    placeholder<int, dyn> label("label");
    auto train = gradient_descent(0.01f).minimize(reduce_mean(sparse_softmax_cross_entropy(logits, label)));
    auto s = ready();
    return [s, step = s->make_callable(train, x, label), xs = matrix(batch, features), ids = classes(batch, count)] {
        step(xs, ids);
    };
}

inline auto train_4_10_10_3_batch_32() {
    placeholder<float, dyn, 4> x("x");
    auto h1 = relu(dense<4, 10>("h1", x));
    auto h2 = relu(dense<10, 10>("h2", h1));
    return classifier_step(dense<10, 3>("out", h2), x, 32, 4, 3);
}

inline auto train_784_100_10_batch_100() {
    placeholder<float, dyn, 784> x("x");
    auto h = relu(dense<784, 100>("h", x));
    return classifier_step(dense<100, 10>("out", h), x, 100, 784, 10);
}

template <class X> auto gelu(const X& x) { return 0.5f * x * (1.f + tanh(0.79788456f * (x + 0.044715f * x * x * x))); }

inline auto gelu_of_1000() {
    placeholder<float, dyn> x("x");
    auto s = ready();
    return [s, call = s->make_callable(reduce_sum(gelu(x)), x), xs = std::vector<float>(1000, 0.25f)] {
        return std::get<0>(call(xs));
    };
}

/// A call of y at a number.
template <class Y> auto prepared(const Y& y, const placeholder<float>& x, float value) {
    const auto s = ready();
    return [s, call = s->make_callable(y, x), value] { return call(value); };
}

inline auto cond_scalar() {
    placeholder<float> x("x");
    return prepared(cond(x > 0.f, [&] { return sin(x); }, [&] { return x * 2.f; }), x, 1.f);
}

/// A loop of n iterations over a counter and a sum.
inline auto while_scalar(int n) {
    placeholder<float> x("x");
    const auto [count, total] = while_loop([n](auto i, auto) { return i < n; },
                                           [](auto i, auto t) { return std::tuple(i + 1, t + cast<float>(i)); }, 0, x);
    return prepared(total, x, 1.f);
}

/// The same with a body of named values: no loop that the compiler makes of expressions.
inline auto while_named(int n) {
    placeholder<float> x("x");
    const auto [count, y] = while_loop([n](auto i, auto) { return i < n; },
                                       [&](auto i, auto t) {
                                           const tensor scaled(t * x, "scaled");
                                           return std::tuple(i + 1, scaled + 0.5f);
                                       },
                                       0, 1.f);
    return prepared(y, x, 0.9f);
}

/// The same over doubles, beside a counter of 4 bytes.
inline auto while_double(int n) {
    placeholder<float> x("x");
    const auto [count, y] = while_loop([n](auto i, auto) { return i < n; },
                                       [&](auto i, auto t) {
                                           const tensor scaled(t * cast<double>(x), "scaled");
                                           return std::tuple(i + 1, scaled + cast<double>(i));
                                       },
                                       0, 1.);
    return prepared(cast<float>(y), x, 0.9f);
}

/// A scan of n slices of one number each, with two numbers as state. It stacks the sum so far.
inline auto scan_scalar(std::size_t n) {
    placeholder<float, dyn> xs("xs");
    const auto [last, sums] = scan(
        [](const auto& state, auto x) {
            const auto& [m, t] = state;
            return std::tuple(std::tuple(m * 0.9f + x * 0.1f, t + x), t + x);
        },
        std::tuple(constant(0.f), constant(0.f)), xs);
    const auto s = ready();
    return [s, call = s->make_callable(std::tuple(std::get<0>(last), std::get<1>(last), sums), xs),
            values = std::vector<float>(n, 0.5f)] { return call(values); };
}

/// The loop of while_scalar, built of switch_ and merge. `raised`: it is functionalized; else the dataflow executor runs it.
inline auto primitives(int n, bool raised) {
    placeholder<float> x("x");
    const auto count = merge(enter(constant(0), "loop"));
    const auto total = merge(enter(x, "loop"));
    const tensor<bool> more = loop_cond(count.value < n);
    const auto c = switch_(count.value, more);
    const auto t = switch_(total.value, more);
    close_loop({{count, next_iteration(c.if_true + 1)}, {total, next_iteration(t.if_true + cast<float>(c.if_true))}});
    const auto y = leave(t.if_false);
    const auto s = std::make_shared<session>(
        current_graph(), session_options{.inter_op_threads = 0, .intra_op_threads = 0, .raise_primitives = raised});
    return [s, call = s->make_callable(y, x)] { return call(1.f); };
}

/// One element into a queue, one element out, by two calls.
inline auto queue_pair() {
    const fifo_queue<tensor<float>> q({.capacity = 10});
    placeholder<float> x("x");
    const auto s = ready();
    return [s, put = s->make_callable(q.enqueue(x), x), take = s->make_callable(std::tuple(q.dequeue()))] {
        put(1.f);
        return take();
    };
}

/// A loop over a vector, with a counter that its body reads and a number that follows from it.
inline auto induction_variable(int n) {
    placeholder<float, dyn> x("x");
    const auto [count, offset, y] = while_loop(
        [n](auto i, auto, auto) { return i < n; },
        [](auto i, auto k, auto v) { return std::tuple(i + 1, k + 3, v * 0.5f + cast<float>(i + k)); }, 0, 10, x);
    auto s = ready();
    return [s, call = s->make_callable(y, x), xs = std::vector<float>(8, 1.f)] { return call(xs); };
}

} // namespace models
