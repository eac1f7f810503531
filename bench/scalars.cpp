// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic of single numbers: a pendulum by 200 Runge-Kutta steps, every intermediate a tensor of its own, its slope and its
// second derivative by the initial angle. By hand: the same loops over numbers that carry their derivatives along. "per_node" is a
// node's part of a call.
#include <algorithm>
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
tensor<float> after_steps(const tensor<float>& angle) {
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

/// A number and its derivatives up to some order by the initial angle.
template <int Order> struct jet {
    std::array<float, Order + 1> d{};
};
template <int N> jet<N> operator+(const jet<N>& x, const jet<N>& y) {
    jet<N> z;
    for (std::size_t i = 0; i <= N; ++i) z.d[i] = x.d[i] + y.d[i];
    return z;
}
template <int N> jet<N> operator*(float x, const jet<N>& y) {
    jet<N> z;
    for (std::size_t i = 0; i <= N; ++i) z.d[i] = x * y.d[i];
    return z;
}
template <int N> jet<N> sine(const jet<N>& x) {
    jet<N> z;
    z.d[0] = std::sin(x.d[0]);
    if constexpr (N >= 1) z.d[1] = std::cos(x.d[0]) * x.d[1];
    if constexpr (N >= 2) z.d[2] = std::cos(x.d[0]) * x.d[2] - z.d[0] * x.d[1] * x.d[1];
    return z;
}

template <int Order> float by_hand(float angle) {
    jet<Order> a, w;
    a.d[0] = angle;
    if constexpr (Order >= 1) a.d[1] = 1.f;
    for (int i = 0; i < steps; ++i) {
        const auto k1 = -stiffness * sine(a), w2 = w + 0.5f * h * k1;
        const auto k2 = -stiffness * sine(a + 0.5f * h * w), w3 = w + 0.5f * h * k2;
        const auto k3 = -stiffness * sine(a + 0.5f * h * w2), w4 = w + h * k3;
        const auto k4 = -stiffness * sine(a + h * w3);
        a = a + h / 6.f * (w + 2.f * w2 + 2.f * w3 + w4);
        w = w + h / 6.f * (k1 + 2.f * k2 + 2.f * k3 + k4);
    }
    return a.d[Order];
}

void pendulum(benchmark::State& state, int order) {
    const graph g;
    const graph_scope here(g);
    placeholder<float> angle("angle");
    tensor<float> y = after_steps(angle);
    for (int i = 0; i < order; ++i) y = std::get<0>(gradients(y, angle));
    const auto nodes = static_cast<double>(g.size());
    const auto s = models::ready();
    const auto call = s->make_callable(y, angle);
    const float expected = order == 0 ? by_hand<0>(1.f) : order == 1 ? by_hand<1>(1.f) : by_hand<2>(1.f);
    if (const float got = std::get<0>(call(1.f)); std::abs(got - expected) > 1e-3f * std::max(1.f, std::abs(expected)))
        return state.SkipWithError("not what it is by hand");
    for (auto _ : state) benchmark::DoNotOptimize(call(1.f));
    state.counters["nodes"] = nodes;
    state.counters["per_node"] =
        benchmark::Counter(nodes, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(pendulum, value, 0)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(pendulum, slope, 1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(pendulum, second, 2)->Unit(benchmark::kMicrosecond);


template <int Order> void time_by_hand(benchmark::State& state) {
    float angle = 1.f;
    for (auto _ : state) {
        benchmark::DoNotOptimize(angle);
        benchmark::DoNotOptimize(by_hand<Order>(angle));
    }
}
BENCHMARK(time_by_hand<0>)->Name("by_hand/value")->Unit(benchmark::kMicrosecond);
BENCHMARK(time_by_hand<1>)->Name("by_hand/slope")->Unit(benchmark::kMicrosecond);
BENCHMARK(time_by_hand<2>)->Name("by_hand/second")->Unit(benchmark::kMicrosecond);

} // namespace
