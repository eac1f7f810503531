// SPDX-License-Identifier: BSD-3-Clause
// What trials found to grow faster than it should, or to cost more than another form of the same: gradients of array writes and of many
// slices, gradients of a small part of a large graph, the first run of a loop over many values, a product of three axes beside its reshaped
// form, a scan beside its steps unrolled, look-ups in a large table, two threads beside busy cores.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include <benchmark/benchmark.h>

#include "models.hpp"

using namespace rill;

namespace {

/// Reports as "per_item" the part of an iteration that is one of `items`.
void count_items(benchmark::State& state, std::int64_t items) {
    state.counters["per_item"] = benchmark::Counter(
        static_cast<double>(items), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Times a call of what `make` prepares in a graph of its own.
template <class Make> void time(benchmark::State& state, std::int64_t items, const Make& make) {
    const graph g;
    const graph_scope here(g);
    const auto call = make();
    for (auto _ : state) benchmark::DoNotOptimize(call());
    count_items(state, items);
}

/// A loop that writes one cell of an array in each iteration: a step back copies no array.
void tensor_array_grad(benchmark::State& state) {
    const auto n = static_cast<int>(state.range(0));
    time(state, n, [n] {
        placeholder<float> x("x");
        const auto [count, cells] =
            while_loop([n](auto i, auto) { return i < n; },
                       [&](auto i, auto a) { return std::tuple(i + 1, a.write(i, x * cast<float>(i))); }, 0,
                       tensor_array<float>(n));
        const auto [slope] = gradients(reduce_sum(square(cells.stack())), x);
        return models::prepared(slope, x, 0.5f);
    });
}
BENCHMARK(tensor_array_grad)->Arg(1'000)->Arg(16'000)->Unit(benchmark::kMicrosecond);

/// The gradient of n slices of a vector of n: slices add up in place.
void slices_grad(benchmark::State& state) {
    const auto n = static_cast<index_t>(state.range(0));
    time(state, n, [n] {
        placeholder<float, dyn> x("x");
        std::vector<any_tensor> all;
        for (index_t i = 0; i < n; ++i) all.push_back(square(slice(any_tensor(x), {i}, {1})));
        const auto d = gradients(std::vector<any_tensor>{add_n(all)}, std::vector<any_tensor>{x});
        const auto s = models::ready();
        return [s, call = s->make_callable(d[0], x), xs = std::vector<float>(static_cast<std::size_t>(n), 0.5f)] {
            return call(xs);
        };
    });
}
BENCHMARK(slices_grad)->Arg(1'500)->Arg(12'000)->Unit(benchmark::kMillisecond);

/// gradients() of three nodes in a graph of so many: it walks those three.
void gradients_of_small_part(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    placeholder<float> x("x"), other("other");
    tensor<float> rest = other;
    for (std::int64_t i = 0; i < state.range(0); ++i) rest = tensor(sin(rest));
    const tensor y = sin(tensor(square(x)));
    for (auto _ : state) benchmark::DoNotOptimize(gradients(y, x));
}
BENCHMARK(gradients_of_small_part)->Arg(2'000)->Arg(128'000)->Iterations(1'000)->Unit(benchmark::kMicrosecond);

/// The first run of a loop that carries so many vectors and captures as many more: each value is bound in constant time.
void first_run_of_wide_loop(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const graph g;
    const graph_scope here(g);
    placeholder<float, 2> x("x");
    std::vector<any_tensor> carried(n, any_tensor(constant(0)));
    std::vector<any_tensor> captured;
    for (std::size_t i = 1; i < n; ++i) {
        carried[i] = tensor<float, 2>(x + static_cast<float>(i));
        captured.push_back(tensor<float, 2>(x * static_cast<float>(i)));
    }
    const auto last = while_loop([](const std::vector<any_tensor>& now) { return tensor<int>(now[0]) < 3; },
                                 [&](std::vector<any_tensor> now) {
                                     now[0] = tensor<int>(now[0]) + 1;
                                     for (std::size_t i = 1; i < n; ++i) now[i] = now[i] + captured[i - 1];
                                     return now;
                                 },
                                 carried);
    const tensor<float, 2> y(add_n(std::vector<any_tensor>(last.begin() + 1, last.end())));
    const std::vector<float> in(2, 1.f);
    for (auto _ : state) {
        const session s(g, {.intra_op_threads = 0});
        benchmark::DoNotOptimize(s.run(y, feed(x, in)));
    }
    count_items(state, state.range(0));
}
BENCHMARK(first_run_of_wide_loop)->Arg(500)->Arg(4'000)->Unit(benchmark::kMillisecond);

constexpr index_t batch = 32, rows = 64, inner = 64, columns = 64;

void matmul_of_three_axes(benchmark::State& state) {
    time(state, batch, [] {
        const variable<float, batch, rows, inner> a("a", random_normal({.seed = 1}));
        const variable<float, inner, columns> b("b", random_normal({.seed = 2}));
        const auto s = models::ready();
        return [s, call = s->make_callable(matmul(a, b))] { return call(); };
    });
}
BENCHMARK(matmul_of_three_axes)->Unit(benchmark::kMicrosecond);

void matmul_reshaped(benchmark::State& state) {
    time(state, batch, [] {
        const variable<float, batch, rows, inner> a("a", random_normal({.seed = 1}));
        const variable<float, inner, columns> b("b", random_normal({.seed = 2}));
        const auto y = reshape<batch, rows, columns>(matmul(reshape<batch * rows, inner>(a), b));
        const auto s = models::ready();
        return [s, call = s->make_callable(y)] { return call(); };
    });
}
BENCHMARK(matmul_reshaped)->Unit(benchmark::kMicrosecond);

constexpr index_t steps = 20, samples = 32, units = 128;

/// Two LSTM layers of 128 units over a sequence, on two threads.
struct lstm {
    variable<float, steps, samples, units> inputs{"inputs", random_normal({.seed = 1})};
    lstm_cell<units, units> first{"first"}, second{"second"};

    template <class State, class X> auto next(const State& state, const X& x) const {
        const auto [h, a] = first(x, std::get<0>(state));
        const auto b = std::get<1>(second(h, std::get<1>(state)));
        return std::tuple(a, b);
    }
    auto zeros() const { return std::tuple(first.zero_state<samples>(), second.zero_state<samples>()); }

    template <class Y> auto ready(const Y& y) const {
        const auto s = std::make_shared<session>(current_graph(), session_options{.intra_op_threads = 1});
        s->run(global_variables_initializer());
        return [s, call = s->make_callable(y)] { return call(); };
    }
};

void lstm_scan(benchmark::State& state) {
    time(state, steps, [] {
        const lstm all;
        const auto states =
            scan([&](const auto& carried, const auto& x) { return all.next(carried, x); }, all.zeros(), all.inputs);
        return all.ready(reduce_sum(std::get<1>(std::get<1>(states))));
    });
}
BENCHMARK(lstm_scan)->Unit(benchmark::kMicrosecond)->UseRealTime();

void lstm_unrolled(benchmark::State& state) {
    time(state, steps, [] {
        const lstm all;
        auto now = all.zeros();
        std::vector<any_tensor> hidden;
        for (int i = 0; i < steps; ++i) {
            now = all.next(now, gather(all.inputs, i));
            hidden.push_back(std::get<1>(std::get<1>(now)));
        }
        return all.ready(reduce_sum(stack(hidden, 0)));
    });
}
BENCHMARK(lstm_unrolled)->Unit(benchmark::kMicrosecond)->UseRealTime();

constexpr index_t table_rows = 1'000'000, table_columns = 8;

/// Times a momentum step. `loss_of(table, a, b)` gives the loss from look-ups of the ids a and b in a table.
template <class Loss> void time_lookups(benchmark::State& state, const Loss& loss_of) {
    time(state, 1, [&] {
        const variable<float, table_rows, table_columns> table("table", 0.5f);
        const placeholder<int, 2> a("a"), b("b");
        const auto train = momentum({.learning_rate = 0.01}).minimize(loss_of(table, a, b));
        const auto s = models::ready();
        return [s, step = s->make_callable(train, a, b), of_a = std::vector<int>{3, 70'000},
                of_b = std::vector<int>{3, 900'000}] {
            step(of_a, of_b);
            return 0;
        };
    });
}

/// Two look-ups in a table: the step moves the rows of both, and no others.
void two_lookups(benchmark::State& state) {
    time_lookups(state, [](const auto& table, const auto& a, const auto& b) {
        return reduce_sum(square(gather(table, a))) + reduce_sum(square(gather(table, b)));
    });
}
BENCHMARK(two_lookups)->Unit(benchmark::kMicrosecond);

/// The same with the look-ups in the body of a scan.
void two_lookups_in_scan(benchmark::State& state) {
    time_lookups(state, [](const auto& table, const auto& a, const auto& b) {
        const auto sums = scan(
            [&](const auto& sum, const auto& ids) {
                const auto& [id, other] = ids;
                return sum + reduce_sum(square(gather(table, id))) + reduce_sum(square(gather(table, other)));
            },
            constant(0.f), std::tuple(a, b));
        return gather(sums, 1);
    });
}
BENCHMARK(two_lookups_in_scan)->Unit(benchmark::kMicrosecond);

/// Threads that keep all cores but one busy.
class busy_cores {
public:
    busy_cores() {
        for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
            threads_.emplace_back([this] {
                while (!done_.load(std::memory_order_relaxed)) {}
            });
    }
    ~busy_cores() {
        done_ = true;
        for (auto& t : threads_) t.join();
    }
    busy_cores(const busy_cores&) = delete;

private:
    std::atomic<bool> done_ = false;
    std::vector<std::thread> threads_;
};

/// Two parts of some µs each, on the caller's thread and one other. The argument says whether other cores are busy.
void two_parts(benchmark::State& state) {
    std::optional<busy_cores> busy;
    if (state.range(0) != 0) busy.emplace();
    time(state, 2, [] {
        constexpr index_t n = 8'000;
        const variable<float, n> x("x", 0.5f), y("y", 0.25f);
        const auto s =
            std::make_shared<session>(current_graph(), session_options{.inter_op_threads = 1, .intra_op_threads = 0});
        s->run(global_variables_initializer());
        return [s, call = s->make_callable(std::tuple(reduce_sum(tanh(x)), reduce_sum(tanh(y))))] { return call(); };
    });
}
BENCHMARK(two_parts)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond)->UseRealTime();

} // namespace
