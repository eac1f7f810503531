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
        if constexpr (std::is_void_v<decltype(step())>)
            step();
        else
            benchmark::DoNotOptimize(step());
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
    for (auto w = widths.begin(); w + 1 != widths.end(); ++w)
        flops += 2 * batch * w[0] * w[1] * (w == widths.begin() ? 2 : 3);
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

/// Eight chains of products too small to share, beside one another: on the caller's thread, and in lanes on two.
void towers(benchmark::State& state) {
    using namespace rill;
    const auto lanes = static_cast<int>(state.range(0));
    time(
        state,
        [&] {
            placeholder<float, dyn, 64> x("x");
            any_tensor sum;
            for (std::uint64_t t = 0; t < 8; ++t) {
                any_tensor h = x;
                for (std::uint64_t i = 0; i < 6; ++i)
                    h = tanh(matmul(h, any_tensor(variable<float, 64, 64>("w", glorot_uniform(8 * t + i + 1)))));
                sum = sum ? sum + h : h;
            }
            auto s = std::make_shared<session>(current_graph(),
                                               session_options{.inter_op_threads = lanes, .intra_op_threads = 1});
            s->run(global_variables_initializer());
            return [s, call = s->make_callable(reduce_sum(sum), x), xs = models::matrix(64, 64)] { call(xs); };
        },
        8 * 6 * 2.0 * 64 * 64 * 64);
}
BENCHMARK(towers)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond)->UseRealTime();

} // namespace
