// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of single numbers: a pendulum whose every intermediate value is a tensor of its own, its slope and its second
// derivative by the first angle, beside the same by hand. "per_node" is a node's part of a call.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <benchmark/benchmark.h>

#include "models.hpp"
#include "pendulum.hpp"

using namespace rill;

namespace {

template <std::size_t Order> void in_graph(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    placeholder<float> angle("angle");
    auto y = pendulum::after_steps<tensor<float>>(angle, constant(0.f));
    for (std::size_t i = 0; i < Order; ++i) y = std::get<0>(gradients(y, angle));
    const auto nodes = static_cast<double>(g.size());
    const auto s = models::ready();
    const auto call = s->make_callable(y, angle);
    const float got = std::get<0>(call(1.f)), expected = pendulum::by_hand<Order>(1.f);
    if (std::abs(got - expected) > 1e-3f * std::max(1.f, std::abs(expected)))
        return state.SkipWithError("it is something else by hand");
    for (auto _ : state) benchmark::DoNotOptimize(call(1.f));
    state.counters["nodes"] = nodes;
    state.counters["per_node"] =
        benchmark::Counter(nodes, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <std::size_t Order> void by_hand(benchmark::State& state) {
    float angle = 1.f;
    for (auto _ : state) {
        benchmark::DoNotOptimize(angle);
        benchmark::DoNotOptimize(pendulum::by_hand<Order>(angle));
    }
}

BENCHMARK(in_graph<0>)->Name("pendulum")->Unit(benchmark::kMicrosecond);
BENCHMARK(in_graph<1>)->Name("pendulum_grad")->Unit(benchmark::kMicrosecond);
BENCHMARK(in_graph<2>)->Name("pendulum_second")->Unit(benchmark::kMicrosecond);
BENCHMARK(by_hand<0>)->Name("pendulum_by_hand")->Unit(benchmark::kMicrosecond);
BENCHMARK(by_hand<1>)->Name("pendulum_grad_by_hand")->Unit(benchmark::kMicrosecond);
BENCHMARK(by_hand<2>)->Name("pendulum_second_by_hand")->Unit(benchmark::kMicrosecond);

} // namespace
