// SPDX-License-Identifier: BSD-3-Clause
// Runs that are cut between devices of this process: what a pair of Send and Receive costs, a loop whose state lies on two devices, the
// compilation of a large plan with and without a second device, and the simulated time of a step by both placers.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <rill/passes/place_by_cost.hpp>
#include <rill/passes/prune.hpp>

#include "models.hpp"

using namespace rill;

namespace {

session_options on_two(bool cut, placers placer = placers::simple) {
    return {.inter_op_threads = 0, .device_count = {{"cpu", 2}}, .placer = placer, .partition_devices = cut};
}

/// A chain of single numbers whose links change the device a number of times.
struct chain {
    graph g;
    graph_scope here{g};
    placeholder<float> x{"x"};
    tensor<float> y;

    explicit chain(int pairs) : y(x * 2.f) {
        for (int i = 1; i <= pairs; ++i) {
            const device_scope on(i % 2 ? "/cpu:1" : "/cpu:0");
            y = tensor<float>(y * 0.5f + static_cast<float>(i));
        }
    }
};

void run_chain(benchmark::State& state, bool cut) {
    const chain c(static_cast<int>(state.range(0)));
    const session s(c.g, on_two(cut));
    const auto step = s.make_callable(c.y, c.x);
    float x = 0;
    for (auto _ : state) benchmark::DoNotOptimize(step(x += 1.f));
}
void chain_whole(benchmark::State& state) { run_chain(state, false); }
void chain_cut(benchmark::State& state) { run_chain(state, true); }
BENCHMARK(chain_whole)->Arg(1)->Arg(9)->Arg(33);
BENCHMARK(chain_cut)->Arg(1)->Arg(9)->Arg(33);

/// 100 iterations: two numbers and a decision cross in each.
void run_loop(benchmark::State& state, bool cut) {
    const graph g;
    const graph_scope here(g);
    const placeholder<float> x("x");
    const auto [k, a, b] = while_loop([](auto i, auto, auto) { return i < 100; },
                                      [](auto i, auto p, auto q) {
                                          const tensor<float> sum(p * 0.5f + q);
                                          const device_scope on("/cpu:1");
                                          return std::tuple(i + 1, sum, tensor<float>(q * 0.25f - p));
                                      },
                                      constant(0), tensor<float>(x * 1.f), tensor<float>(x * 2.f));
    const session s(g, on_two(cut));
    const auto step = s.make_callable(std::tuple(a, b), x);
    for (auto _ : state) benchmark::DoNotOptimize(step(1.f));
}
void loop_whole(benchmark::State& state) { run_loop(state, false); }
void loop_cut(benchmark::State& state) { run_loop(state, true); }
BENCHMARK(loop_whole);
BENCHMARK(loop_cut);

/// The first run of 50,000 nodes: one device; two; cut; by cost.
void first_run(benchmark::State& state, const session_options& how, bool devices) {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 4> x("x");
    tensor<float, 4> y(x * 2.f);
    for (int i = 0; i < 50'000; ++i) {
        const device_scope on(devices && i >= 25'000 ? "/cpu:1" : "");
        y = identity(y);
    }
    const std::vector<float> in(4, 1.f);
    for (auto _ : state) {
        const session s(g, how);
        benchmark::DoNotOptimize(s.run(y, feed(x, in)));
    }
}
void compile_one_device(benchmark::State& state) { first_run(state, {.inter_op_threads = 0}, false); }
void compile_two_devices(benchmark::State& state) { first_run(state, on_two(false), true); }
void compile_cut(benchmark::State& state) { first_run(state, on_two(true), true); }
void compile_by_cost(benchmark::State& state) { first_run(state, on_two(false, placers::by_cost), false); }
BENCHMARK(compile_one_device)->Unit(benchmark::kMillisecond);
BENCHMARK(compile_two_devices)->Unit(benchmark::kMillisecond);
BENCHMARK(compile_cut)->Unit(benchmark::kMillisecond);
BENCHMARK(compile_by_cost)->Unit(benchmark::kMillisecond);

/// Two chains of products that meet, placed on two devices. The counter is the simulated time of a step.
void run_placer(benchmark::State& state, placers placer) {
    const graph g;
    const graph_scope here(g);
    const placeholder<float, 300, 300> x("x");
    const auto chain = [&](float by) {
        tensor<float, 300, 300> m(x * by);
        for (int i = 0; i < 20; ++i) m = matmul(m, x);
        return m;
    };
    const auto a = chain(0.5f), b = chain(0.25f);
    const tensor<float, 300, 300> meet(matmul(a, b));
    const std::vector<endpoint> fetches{meet}, feeds{x};
    double simulated = 0;
    for (auto _ : state) {
        placement where({{"cpu", 2}}, cpu_device(), false, {}, placer);
        simulated = simulated_microseconds(place(prune(fetches, {}, feeds), where));
    }
    state.counters["simulated_us"] = simulated;
}
void placed_simple(benchmark::State& state) { run_placer(state, placers::simple); }
void placed_by_cost(benchmark::State& state) { run_placer(state, placers::by_cost); }
BENCHMARK(placed_simple)->Unit(benchmark::kMicrosecond);
BENCHMARK(placed_by_cost)->Unit(benchmark::kMicrosecond);

} // namespace
