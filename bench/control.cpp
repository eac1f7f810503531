// SPDX-License-Identifier: BSD-3-Clause
// Branches and loops of the graph: what an iteration costs beside its arithmetic, what its gradient costs, and whole runs of
// training in one call. Times are of calls; "per_iteration" is their part.
#include <benchmark/benchmark.h>

#include "models.hpp"

using namespace rill;

namespace {

/// A call of what `make` prepares in a graph of its own.
template <class Make> void time(benchmark::State& state, std::int64_t iterations, const Make& make) {
    const graph g;
    const graph_scope here(g);
    const auto call = make();
    for (auto _ : state) benchmark::DoNotOptimize(call());
    state.counters["per_iteration"] = benchmark::Counter(
        static_cast<double>(iterations), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void cond_scalar(benchmark::State& state) { time(state, 1, models::cond_scalar); }
BENCHMARK(cond_scalar);

/// Branches of two numbers and of so many: where they differ, a call goes in stages.
void cond_extents(benchmark::State& state) {
    time(state, 1, [other = static_cast<std::size_t>(state.range(0))] {
        placeholder<bool> p("p");
        placeholder<float, dyn> a("a"), b("b");
        const auto y = reduce_sum(cond(p, [&] { return a * 2.f; }, [&] { return b * 1.f; }));
        const auto s = models::ready();
        return [s, call = s->make_callable(y, p, a, b), as = std::vector<float>(2, 1.f),
                bs = std::vector<float>(other, 1.f)] { return call(true, as, bs); };
    });
}
BENCHMARK(cond_extents)->Arg(2)->Arg(3);

/// A state that is twice as long after each iteration.
void while_grows(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] {
        placeholder<float, dyn> x("x");
        const auto [count, y] = while_loop([n](auto i, auto) { return i < n; },
                                           [](auto i, auto v) { return std::tuple(i + 1, concat<0>(v, v)); }, 0, x);
        const auto s = models::ready();
        return [s, call = s->make_callable(reduce_sum(y), x), xs = std::vector<float>(2, 1.f)] { return call(xs); };
    });
}
BENCHMARK(while_grows)->Arg(5);

void while_scalar(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] { return models::while_scalar(n); });
}
BENCHMARK(while_scalar)->Arg(1)->Arg(1'000);

void while_named(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] { return models::while_named(n); });
}
BENCHMARK(while_named)->Arg(1'000);

void while_double(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] { return models::while_double(n); });
}
BENCHMARK(while_double)->Arg(1'000);

void scan_scalar(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    time(state, state.range(0), [n] { return models::scan_scalar(n); });
}
BENCHMARK(scan_scalar)->Arg(1'000);

void while_scalar_grad(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] {
        placeholder<float> x("x");
        const auto [count, y] = while_loop([n](auto i, auto) { return i < n; },
                                           [&](auto i, auto v) { return std::tuple(i + 1, sin(v * x)); }, 0, 1.f);
        const auto [slope] = gradients(y, x);
        return models::prepared(slope, x, 1.3f);
    });
}
BENCHMARK(while_scalar_grad)->Arg(1)->Arg(1'000);

constexpr index_t steps = 100, batch = 32, units = 32;

struct rnn {
    variable<float, steps, batch, units> inputs{"inputs", random_normal({.seed = 1})};
    variable<float, units, units> w{"w", glorot_uniform(2)}, u{"u", glorot_uniform(3)};

    auto states() const {
        return scan([&](auto h, auto in) { return tanh(matmul(in, w) + matmul(h, u)); }, zeros<float, batch, units>(),
                    inputs);
    }
};

void scan_rnn(benchmark::State& state) {
    time(state, steps, [] {
        const auto y = rnn().states();
        const auto s = models::ready();
        return [s, call = s->make_callable(y)] { return call(); };
    });
}
BENCHMARK(scan_rnn)->Unit(benchmark::kMicrosecond);

void scan_rnn_grad(benchmark::State& state) {
    time(state, steps, [] {
        const rnn r;
        const auto slopes = gradients(reduce_mean(square(r.states())), r.w, r.u);
        const auto s = models::ready();
        return [s, call = s->make_callable(slopes)] { return call(); };
    });
}
BENCHMARK(scan_rnn_grad)->Unit(benchmark::kMicrosecond);

/// Steps of steps.cpp's linear_regression_sgd.
void train_in_graph(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] {
        placeholder<float, dyn> x("x"), y("y");
        variable<float> w("w", 0.f), b("b", 0.f);
        const auto done = while_loop([n](auto i) { return i < n; },
                                     [&](auto i) {
                                         gradient_descent(0.05f).minimize(reduce_mean(square(w * x + b - y)));
                                         return i + 1;
                                     },
                                     0);
        const auto s = models::ready();
        return [s, call = s->make_callable(done, x, y), xs = std::vector<float>(100, 0.5f),
                ys = std::vector<float>(100, 1.f)] { return call(xs, ys); };
    });
}
BENCHMARK(train_in_graph)->Arg(1'000)->Unit(benchmark::kMicrosecond);

/// The gradient of a loop whose iterations read and write cells of an array: what it costs grows with the cells, not their square.
void cells_grad(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] {
        placeholder<float, dyn, 8> x("x");
        const auto cells = std::get<1>(while_loop(
            [n](auto i, auto) { return i < n; },
            [&](auto i, auto a) { return std::tuple(i + 1, a.write(i, 0.5f * a.read(i - 1) + gather(x, i))); },
            std::tuple(constant(1), tensor_array(x))));
        const auto d = gradients(reduce_sum(cells.stack()), x);
        const auto s = models::ready();
        return [s, call = s->make_callable(d, x), xs = xt::xtensor<float, 2>({static_cast<std::size_t>(n), 8}, 0.5f)] {
            return call(xs);
        };
    });
}
BENCHMARK(cells_grad)->Arg(1'000)->Arg(16'000)->Unit(benchmark::kMicrosecond);

} // namespace
