// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of single numbers: a pendulum by 200 Runge-Kutta steps, every intermediate a tensor of its own, its slope and its
// second derivative by the initial angle. By hand: the same loops, with the same derivatives written out. "per_node" is a
// node's part of a call.
#include <array>
#include <cmath>
#include <tuple>

#include <benchmark/benchmark.h>

#include "models.hpp"

using namespace rill;

namespace {

constexpr int steps = 200;
constexpr float h = 0.01f, stiffness = 9.81f;

/// The angle after all steps.
tensor<float> pendulum(const tensor<float>& angle) {
    tensor<float> a = angle, w = constant(0.f);
    for (int i = 0; i < steps; ++i) {
        tensor<float> k1 = -stiffness * sin(a);
        tensor<float> w2 = w + 0.5f * h * k1;
        tensor<float> k2 = -stiffness * sin(a + 0.5f * h * w);
        tensor<float> w3 = w + 0.5f * h * k2;
        tensor<float> k3 = -stiffness * sin(a + 0.5f * h * w2);
        tensor<float> w4 = w + h * k3;
        tensor<float> k4 = -stiffness * sin(a + h * w3);
        tensor<float> next = a + h / 6.f * (w + 2.f * w2 + 2.f * w3 + w4);
        w = w + h / 6.f * (k1 + 2.f * k2 + 2.f * k3 + k4);
        a = next;
    }
    return a;
}

void time_pendulum(benchmark::State& state, int order) {
    const graph g;
    const graph_scope here(g);
    placeholder<float> angle("angle");
    tensor<float> y = pendulum(angle);
    for (int i = 0; i < order; ++i) y = std::get<0>(gradients(y, angle));
    const auto nodes = static_cast<double>(g.size());
    const auto s = models::ready();
    const auto call = s->make_callable(y, angle);
    for (auto _ : state) benchmark::DoNotOptimize(call(1.f));
    state.counters["nodes"] = nodes;
    state.counters["per_node"] =
        benchmark::Counter(nodes, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(time_pendulum, value, 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(time_pendulum, slope, 1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(time_pendulum, second, 2)->Unit(benchmark::kMicrosecond);

} // namespace
