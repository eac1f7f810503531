// SPDX-License-Identifier: BSD-3-Clause
// Whole steps: what a run costs beside its arithmetic, and the training steps the library is measured by.
#include <benchmark/benchmark.h>

#include "models.hpp"
#include "roofline.hpp"

namespace {

template <class Make> void time(benchmark::State& state, const Make& make, double flops = 0) {
    const rill::graph g;
    const rill::graph_scope here(g);
    const auto step = make();
    const roofline::meter meter;
    for (auto _ : state) {
        if constexpr (std::is_void_v<decltype(step())>) step();
        else benchmark::DoNotOptimize(step());
    }
    if (flops > 0) meter.report(state, 0, flops);
}

void null_callable(benchmark::State& state) { time(state, models::null_callable); }
BENCHMARK(null_callable);

void null_run_by_handle(benchmark::State& state) { time(state, models::null_run_by_handle); }
BENCHMARK(null_run_by_handle);

void linear_regression_sgd(benchmark::State& state) { time(state, models::linear_regression_sgd); }
BENCHMARK(linear_regression_sgd);

/// The products of a dense network's step: forward, by the weights, and (but for the first layer) by the inputs.
double products(double batch, std::initializer_list<double> widths) {
    double flops = 0;
    for (auto w = widths.begin(); w + 1 != widths.end(); ++w) flops += 2 * batch * w[0] * w[1] * (w == widths.begin() ? 2 : 3);
    return flops;
}

void train_4_10_10_3_batch_32(benchmark::State& state) {
    time(state, models::train_4_10_10_3_batch_32, products(32, {4, 10, 10, 3}));
}
BENCHMARK(train_4_10_10_3_batch_32);

void train_784_100_10_batch_100(benchmark::State& state) {
    time(state, models::train_784_100_10_batch_100, products(100, {784, 100, 10}));
}
BENCHMARK(train_784_100_10_batch_100)->Unit(benchmark::kMicrosecond);

} // namespace
