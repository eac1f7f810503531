// SPDX-License-Identifier: BSD-3-Clause
// The heat equation: 1,000 explicit steps in a while_loop of the graph, and the gradient of 100 of them, beside loops by hand. Slices of the
// state are read in place, and each step is written into the padded state.
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "models.hpp"

using namespace rill;

namespace {

constexpr float c = 0.2f;
constexpr index_t line = 100'000, side = 300;
constexpr slice_range inner{1, -1}, upper{2}, lower{0, -2};

struct on_line {
    using state = tensor<float, line>;
    using variable_type = variable<float, line>;
    static state next(const state& u) {
        return state(any_tensor(pad<padding{1, 1}>(tensor(u(inner) + c * (u(upper) - 2.f * u(inner) + u(lower))))));
    }
    static constexpr std::size_t size = line;
    static void next(const std::vector<float>& u, std::vector<float>& to) {
        for (std::size_t i = 1; i + 1 < size; ++i) to[i] = u[i] + c * (u[i + 1] - 2.f * u[i] + u[i - 1]);
        to[0] = to[size - 1] = 0;
    }
};

struct on_square {
    using state = tensor<float, side, side>;
    using variable_type = variable<float, side, side>;
    static state next(const state& u) {
        const auto around = u(upper, inner) + u(lower, inner) + u(inner, upper) + u(inner, lower);
        return state(any_tensor(
            pad<padding{1, 1}, padding{1, 1}>(tensor(u(inner, inner) + c * (around - 4.f * u(inner, inner))))));
    }
    static constexpr std::size_t size = side * side;
    static void next(const std::vector<float>& u, std::vector<float>& to) {
        constexpr std::size_t n = side;
        for (std::size_t r = 1; r + 1 < n; ++r)
            for (std::size_t i = r * n + 1; i + 1 < (r + 1) * n; ++i)
                to[i] = u[i] + c * (u[i + n] + u[i - n] + u[i + 1] + u[i - 1] - 4.f * u[i]);
        for (std::size_t i = 0; i < n; ++i) to[i] = to[(n - 1) * n + i] = to[i * n] = to[i * n + n - 1] = 0;
    }
};

template <class Grid> typename Grid::state advance(const typename Grid::state& start, int steps) {
    return std::get<1>(while_loop([steps](auto i, auto) { return i < steps; },
                                  [](auto i, const auto& u) { return std::tuple(i + 1, Grid::next(u)); }, constant(0),
                                  start));
}

/// Times a call of what `make` gives for the last state, on one thread. "per_step" is the part of a step.
template <class Grid, class Make> void time(benchmark::State& state, const Make& make) {
    const graph g;
    const graph_scope here(g);
    const auto steps = static_cast<int>(state.range(0));
    const typename Grid::variable_type first("first", random_normal({.seed = 1}));
    const typename Grid::state start(first * 1.f);
    const auto s = models::ready();
    const auto call = s->make_callable(make(advance<Grid>(start, steps), start));
    for (auto _ : state) benchmark::DoNotOptimize(call());
    state.counters["per_step"] =
        benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
template <class Grid> void heat(benchmark::State& state) {
    time<Grid>(state, [](const auto& last, const auto&) { return reduce_sum(last); });
}
template <class Grid> void heat_gradient(benchmark::State& state) {
    time<Grid>(state, [](const auto& last, const auto& start) {
        return reduce_sum(std::get<0>(gradients(reduce_sum(square(last)), start)));
    });
}

template <class Grid> void heat_by_hand(benchmark::State& state) {
    const auto steps = static_cast<int>(state.range(0));
    std::vector<float> now(Grid::size, 0.5f), next(Grid::size);
    for (auto _ : state) {
        for (int i = 0; i < steps; ++i) {
            Grid::next(now, next);
            std::swap(now, next);
        }
        benchmark::DoNotOptimize(now.data());
    }
    state.counters["per_step"] =
        benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK(heat<on_line>)->Arg(1'000)->Unit(benchmark::kMillisecond);
BENCHMARK(heat_by_hand<on_line>)->Arg(1'000)->Unit(benchmark::kMillisecond);
BENCHMARK(heat<on_square>)->Arg(1'000)->Unit(benchmark::kMillisecond);
BENCHMARK(heat_by_hand<on_square>)->Arg(1'000)->Unit(benchmark::kMillisecond);
BENCHMARK(heat_gradient<on_line>)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(heat_gradient<on_square>)->Arg(100)->Unit(benchmark::kMillisecond);

} // namespace
