// SPDX-License-Identifier: BSD-3-Clause
// Kernels beside plain loops over the same data: a fused chain, its gradient, a map into a sum, products of matrices.
#include <benchmark/benchmark.h>

#include <cmath>

#include "models.hpp"
#include "roofline.hpp"

using namespace rill;
using models::gelu;

namespace {

xt::xtensor<float, 1> numbers(std::int64_t n) {
    auto v = xt::xtensor<float, 1>::from_shape({static_cast<std::size_t>(n)});
    for (std::size_t i = 0; i < v.size(); ++i) v(i) = static_cast<float>(i % 1000) / 500.f - 1.f;
    return v;
}

// The sum keeps the result small, so that what is timed is the pass over memory, not the copy of a fetch.
template <class Build> void run_once(benchmark::State& state, int inputs, const Build& build) {
    const std::int64_t n = state.range(0);
    graph g;
    graph_scope here(g);
    placeholder<float, dyn> a("a"), b("b"), c("c"), d("d");
    session s;
    const auto v = numbers(n), x = v, y = v, z = v; // four streams of memory
    auto step = s.make_callable(build(a, b, c, d), a, b, c, d);
    const roofline::meter meter;
    for (auto _ : state) benchmark::DoNotOptimize(step(v, x, y, z));
    meter.report(state, 4.0 * static_cast<double>(inputs) * static_cast<double>(n), 0);
}

void gelu_summed(benchmark::State& state) {
    run_once(state, 1, [](auto a, auto...) { return reduce_sum(gelu(a)); });
}
BENCHMARK(gelu_summed)->Arg(1000)->Arg(100000)->Arg(10000000);

/// The same, but every operation is a node of its own: they run as one fusion group, block by block.
void gelu_in_nodes_summed(benchmark::State& state) {
    run_once(state, 1, [](auto a, auto...) {
        const tensor cube(a * a * a), inner(0.79788456f * (a + 0.044715f * cube)), t(tanh(inner)), half(0.5f * a);
        return reduce_sum(half + half * t);
    });
}
BENCHMARK(gelu_in_nodes_summed)->Arg(1000)->Arg(100000)->Arg(10000000);

void gelu_gradient_summed(benchmark::State& state) {
    run_once(state, 1, [](auto a, auto...) {
        const auto [d] = gradients(reduce_sum(gelu(a)), a);
        return reduce_sum(d);
    });
}
BENCHMARK(gelu_gradient_summed)->Arg(1000)->Arg(100000)->Arg(10000000);

void sum_of_products(benchmark::State& state) {
    run_once(state, 4, [](auto a, auto b, auto c, auto d) { return reduce_sum(a * b + c * d); });
}
BENCHMARK(sum_of_products)->Arg(1000)->Arg(100000)->Arg(10000000);

RILL_NO_INLINE float sum_by_hand(const float* a, const float* b, const float* c, const float* d, std::size_t n) {
    float lanes[64] = {};
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64)
        for (std::size_t k = 0; k < 64; ++k) lanes[k] += a[i + k] * b[i + k] + c[i + k] * d[i + k];
    float sum = 0;
    for (; i < n; ++i) sum += a[i] * b[i] + c[i] * d[i];
    for (const float v : lanes) sum += v;
    return sum;
}

void sum_of_products_by_hand(benchmark::State& state) {
    const auto a = numbers(state.range(0)), b = a, c = a, d = a;
    const roofline::meter meter;
    for (auto _ : state) benchmark::DoNotOptimize(sum_by_hand(a.data(), b.data(), c.data(), d.data(), a.size()));
    meter.report(state, 16.0 * static_cast<double>(a.size()), 0);
}
BENCHMARK(sum_of_products_by_hand)->Arg(1000)->Arg(100000)->Arg(10000000);

void product(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    graph g;
    graph_scope here(g);
    placeholder<float, dyn, dyn> a("a"), b("b");
    session s;
    xt::xtensor<float, 2> m({n, n}, 0.5f);
    auto step = s.make_callable(operation(matmul(a, b).node()), a, b);
    const roofline::meter meter;
    for (auto _ : state) step(m, m);
    meter.report(state, 12.0 * static_cast<double>(n * n), 2.0 * static_cast<double>(n * n * n));
}
BENCHMARK(product)->Arg(32)->Arg(256)->Arg(1024);

} // namespace
