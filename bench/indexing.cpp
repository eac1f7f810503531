// SPDX-License-Identifier: BSD-3-Clause
// Sums by segments, gathers by rows of indices, and the largest of many numbers, beside plain loops over the same data.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <rill/rill.hpp>

#include "roofline.hpp"

using namespace rill;

namespace {

constexpr std::int64_t segments = 1000;

xt::xtensor<float, 1> numbers(std::int64_t n) {
    auto v = xt::xtensor<float, 1>::from_shape({static_cast<std::size_t>(n)});
    for (std::size_t i = 0; i < v.size(); ++i) v(i) = static_cast<float>(i % 1000) / 500.f - 1.f;
    return v;
}

/// Ids below `end`: in order, or spread over all.
xt::xtensor<int, 1> ids_of(std::int64_t n, std::int64_t end, bool sorted) {
    auto v = xt::xtensor<int, 1>::from_shape({static_cast<std::size_t>(n)});
    for (std::int64_t i = 0; i < n; ++i)
        v(static_cast<std::size_t>(i)) = static_cast<int>(sorted ? i * end / n : i * 7919 % end);
    return v;
}

void sum_by_segments(benchmark::State& state, bool sorted) {
    const std::int64_t n = state.range(0);
    graph g;
    graph_scope here(g);
    placeholder<float, dyn> x("x");
    placeholder<int, dyn> ids("ids");
    session s;
    auto step = s.make_callable(unsorted_segment_sum<segments>(x, ids), x, ids);
    const auto v = numbers(n);
    const auto by = ids_of(n, segments, sorted);
    const roofline::meter meter;
    for (auto _ : state) benchmark::DoNotOptimize(step(v, by));
    meter.report(state, 8.0 * static_cast<double>(n), 0);
}
BENCHMARK_CAPTURE(sum_by_segments, sorted, true)->Arg(1000000);
BENCHMARK_CAPTURE(sum_by_segments, unsorted, false)->Arg(1000000);

RILL_NO_INLINE void sum_by_hand(const float* x, const int* ids, float* to, std::int64_t n) {
    std::fill_n(to, segments, 0.f);
    for (std::int64_t i = 0; i < n; ++i) to[ids[i]] += x[i];
}

void sum_by_segments_by_hand(benchmark::State& state, bool sorted) {
    const std::int64_t n = state.range(0);
    const auto v = numbers(n);
    const auto by = ids_of(n, segments, sorted);
    std::vector<float> to(segments);
    const roofline::meter meter;
    for (auto _ : state) {
        sum_by_hand(v.data(), by.data(), to.data(), n);
        benchmark::DoNotOptimize(to.data());
        benchmark::ClobberMemory();
    }
    meter.report(state, 8.0 * static_cast<double>(n), 0);
}
BENCHMARK_CAPTURE(sum_by_segments_by_hand, sorted, true)->Arg(1000000);
BENCHMARK_CAPTURE(sum_by_segments_by_hand, unsorted, false)->Arg(1000000);

constexpr std::int64_t rows = 1000, columns = 1000;

/// Rows of indices [n, 2] into a table.
xt::xtensor<int, 2> pairs(std::int64_t n) {
    auto v = xt::xtensor<int, 2>::from_shape({static_cast<std::size_t>(n), 2});
    for (std::int64_t i = 0; i < n; ++i) {
        v(static_cast<std::size_t>(i), 0) = static_cast<int>(i * 7919 % rows);
        v(static_cast<std::size_t>(i), 1) = static_cast<int>(i * 104729 % columns);
    }
    return v;
}

void gather_pairs(benchmark::State& state) {
    const std::int64_t n = state.range(0);
    graph g;
    graph_scope here(g);
    placeholder<float, rows, columns> x("x");
    placeholder<int, dyn, 2> ids("ids");
    session s;
    auto step = s.make_callable(operation(gather_nd(x, ids).node()), x, ids); // the result is not fetched
    const auto table = xt::xtensor<float, 2>({rows, columns}, 0.5f);
    const auto at = pairs(n);
    const roofline::meter meter;
    for (auto _ : state) step(table, at);
    meter.report(state, 16.0 * static_cast<double>(n), 0);
}
BENCHMARK(gather_pairs)->Arg(1000000);

/// Returns false if an index is outside.
RILL_NO_INLINE bool gather_by_hand(const float* table, const int* ids, float* to, std::int64_t n) {
    bool good = true;
    for (std::int64_t i = 0; i < n; ++i) {
        const int a = ids[2 * i], b = ids[2 * i + 1];
        if (static_cast<unsigned>(a) >= rows || static_cast<unsigned>(b) >= columns) {
            good = false;
            continue;
        }
        to[i] = table[a * columns + b];
    }
    return good;
}

void gather_pairs_by_hand(benchmark::State& state) {
    const std::int64_t n = state.range(0);
    const auto table = xt::xtensor<float, 2>({rows, columns}, 0.5f);
    const auto at = pairs(n);
    std::vector<float> to(static_cast<std::size_t>(n));
    const roofline::meter meter;
    for (auto _ : state) {
        benchmark::DoNotOptimize(gather_by_hand(table.data(), at.data(), to.data(), n));
        benchmark::ClobberMemory();
    }
    meter.report(state, 16.0 * static_cast<double>(n), 0);
}
BENCHMARK(gather_pairs_by_hand)->Arg(1000000);

constexpr std::int64_t few = 100;

/// Numbers in no order, without equals.
xt::xtensor<float, 1> shuffled(std::int64_t n) {
    auto v = xt::xtensor<float, 1>::from_shape({static_cast<std::size_t>(n)});
    for (std::int64_t i = 0; i < n; ++i) v(static_cast<std::size_t>(i)) = static_cast<float>(i * 7919 % n);
    return v;
}

void largest(benchmark::State& state) {
    const std::int64_t n = state.range(0);
    graph g;
    graph_scope here(g);
    placeholder<float, dyn> x("x");
    session s;
    const auto [values, places] = top_k<few>(x);
    auto step = s.make_callable(std::tuple(values, places), x);
    const auto v = shuffled(n);
    const roofline::meter meter;
    for (auto _ : state) benchmark::DoNotOptimize(step(v));
    meter.report(state, 4.0 * static_cast<double>(n), 0);
}
BENCHMARK(largest)->Arg(1000000);

/// The largest numbers and their places: a heap of the best so far, the least of which most numbers do not reach.
RILL_NO_INLINE void largest_by_hand(const float* x, std::int64_t n, std::pair<float, int>* best) {
    const auto before = [](const auto& a, const auto& b) {
        return a.first > b.first || (a.first == b.first && a.second < b.second);
    };
    for (int i = 0; i < few; ++i) best[i] = {x[i], i};
    std::make_heap(best, best + few, before);
    for (std::int64_t i = few; i < n; ++i)
        if (x[i] > best->first) {
            std::pop_heap(best, best + few, before);
            best[few - 1] = {x[i], static_cast<int>(i)};
            std::push_heap(best, best + few, before);
        }
    std::sort_heap(best, best + few, before);
}

/// The same by the standard library: the places, partly sorted by what is there.
RILL_NO_INLINE void largest_by_partial_sort(const float* x, std::vector<int>& places) {
    std::iota(places.begin(), places.end(), 0);
    std::partial_sort(places.begin(), places.begin() + few, places.end(),
                      [x](int a, int b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
}

void largest_by_hand(benchmark::State& state) {
    const auto v = shuffled(state.range(0));
    std::vector<std::pair<float, int>> best(few);
    const roofline::meter meter;
    for (auto _ : state) {
        largest_by_hand(v.data(), state.range(0), best.data());
        benchmark::DoNotOptimize(best.data());
        benchmark::ClobberMemory();
    }
    meter.report(state, 4.0 * static_cast<double>(state.range(0)), 0);
}
BENCHMARK(largest_by_hand)->Arg(1000000);

void largest_by_partial_sort(benchmark::State& state) {
    const auto v = shuffled(state.range(0));
    std::vector<int> places(v.size());
    const roofline::meter meter;
    for (auto _ : state) {
        largest_by_partial_sort(v.data(), places);
        benchmark::DoNotOptimize(places.data());
        benchmark::ClobberMemory();
    }
    meter.report(state, 4.0 * static_cast<double>(state.range(0)), 0);
}
BENCHMARK(largest_by_partial_sort)->Arg(1000000);

} // namespace
