// SPDX-License-Identifier: BSD-3-Clause
// Work on the graph itself: building a chain, its gradients, its first run.
#include <benchmark/benchmark.h>

#include <rill/rill.hpp>

using namespace rill;

namespace {

tensor<float> chain(const tensor<float>& x, std::int64_t n) {
    tensor<float> y = x;
    for (std::int64_t i = 0; i < n; ++i) y = y * 1.0001f + x; // assignment seals: one node each
    return y;
}

void build_chain(benchmark::State& state) {
    for (auto _ : state) {
        graph g;
        graph_scope here(g);
        placeholder<float> x("x");
        benchmark::DoNotOptimize(chain(x, state.range(0)));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(build_chain)->Arg(1000)->Arg(50000)->Unit(benchmark::kMillisecond);

void gradients_of_chain(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        graph g;
        graph_scope here(g);
        placeholder<float> x("x");
        const auto y = chain(x, state.range(0));
        state.ResumeTiming();
        benchmark::DoNotOptimize(gradients(y, x));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(gradients_of_chain)->Arg(1000)->Arg(50000)->Unit(benchmark::kMillisecond);

void first_run_of_chain(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        graph g;
        graph_scope here(g);
        placeholder<float> x("x");
        const auto y = chain(x, state.range(0));
        session s;
        state.ResumeTiming();
        benchmark::DoNotOptimize(s.run(y, feed(x, 1.f)));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(first_run_of_chain)->Arg(1000)->Arg(50000)->Unit(benchmark::kMillisecond);

/// Each write waits for the one before, and uses the variable as that left it.
void first_run_of_writes(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        graph g;
        graph_scope here(g);
        variable<float> w("w", 1.f);
        tensor<float> last = w.assign(w + 1.f);
        for (std::int64_t i = 1; i < state.range(0); ++i) {
            const control_dependencies after(last);
            last = w.assign(w + 1.f);
        }
        session s;
        s.run(global_variables_initializer());
        state.ResumeTiming();
        benchmark::DoNotOptimize(s.run(last));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(first_run_of_writes)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);

} // namespace
