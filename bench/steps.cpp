// SPDX-License-Identifier: BSD-3-Clause
// Whole steps: what a run costs beside its arithmetic, and the training steps the library is measured by.
#include <benchmark/benchmark.h>

#include <rill/rill.hpp>

using namespace rill;

namespace {

xt::xtensor<float, 2> matrix(std::size_t rows, std::size_t columns) {
    xt::xtensor<float, 2> m({rows, columns});
    for (std::size_t i = 0; i < m.size(); ++i) m.storage()[i] = static_cast<float>(i * 37 % 101) / 101.f - 0.5f;
    return m;
}
std::vector<int> classes(std::size_t n, int count) {
    std::vector<int> ids(n);
    for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<int>(i * 7 % static_cast<std::size_t>(count));
    return ids;
}

void null_callable(benchmark::State& state) {
    graph g;
    graph_scope here(g);
    placeholder<float> x("x");
    session s;
    auto run = s.make_callable(x, x);
    for (auto _ : state) benchmark::DoNotOptimize(run(1.f));
}
BENCHMARK(null_callable);

void null_run_by_handle(benchmark::State& state) {
    graph g;
    graph_scope here(g);
    placeholder<float> x("x");
    session s;
    for (auto _ : state) benchmark::DoNotOptimize(s.run(x, feed(x, 1.f)));
}
BENCHMARK(null_run_by_handle);

void linear_regression_sgd(benchmark::State& state) {
    graph g;
    graph_scope here(g);
    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    auto loss = reduce_mean(square(w * x + b - y));
    auto train = gradient_descent(0.05f).minimize(loss);
    session s;
    s.run(global_variables_initializer());
    std::vector<float> xs(100, 0.5f), ys(100, 1.f);
    auto step = s.make_callable(train, x, y);
    for (auto _ : state) step(xs, ys);
}
BENCHMARK(linear_regression_sgd);

void train_4_10_10_3_batch_32(benchmark::State& state) {
    graph g;
    graph_scope here(g);
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    auto h1 = relu(dense<4, 10>("h1", x));
    auto h2 = relu(dense<10, 10>("h2", h1));
    auto loss = reduce_mean(sparse_softmax_cross_entropy(dense<10, 3>("out", h2), label));
    auto train = gradient_descent(0.01f).minimize(loss);
    session s;
    s.run(global_variables_initializer());
    const auto xs = matrix(32, 4);
    const auto ids = classes(32, 3);
    auto step = s.make_callable(train, x, label);
    for (auto _ : state) step(xs, ids);
}
BENCHMARK(train_4_10_10_3_batch_32);

void train_784_100_10_batch_100(benchmark::State& state) {
    graph g;
    graph_scope here(g);
    placeholder<float, dyn, 784> x("x");
    placeholder<int, dyn> label("label");
    auto h = relu(dense<784, 100>("h", x));
    auto loss = reduce_mean(sparse_softmax_cross_entropy(dense<100, 10>("out", h), label));
    auto train = gradient_descent(0.01f).minimize(loss);
    session s;
    s.run(global_variables_initializer());
    const auto xs = matrix(100, 784);
    const auto ids = classes(100, 10);
    auto step = s.make_callable(train, x, label);
    for (auto _ : state) step(xs, ids);
    // x w forward and x^T g backward over 784 x 100, three products over 100 x 10
    const double flops = 2.0 * 100 * (2 * 784 * 100 + 3 * 100 * 10);
    state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(train_784_100_10_batch_100)->Unit(benchmark::kMicrosecond);

} // namespace
