// SPDX-License-Identifier: BSD-3-Clause
// Functions of matrices beside LAPACK, where the system has it, and batches of small ones beside straight C++. LAPACK's rows are skipped
// where it is not found.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <rill/core/platform.hpp>
#include <rill/rill.hpp>

using namespace rill;

namespace {

/// Symmetric positive definite matrices.
xt::xtensor<double, 3> positive(std::size_t count, std::size_t n) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(-1, 1);
    xt::xtensor<double, 3> all({count, n, n});
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                all(k, i, j) = all(k, j, i) = number(random) + (i == j ? static_cast<double>(n) : 0.);
    return all;
}

template <class F> void run(benchmark::State& state, const F& f) {
    const auto count = static_cast<std::size_t>(state.range(0)), n = static_cast<std::size_t>(state.range(1));
    const graph g;
    const graph_scope here(g);
    const placeholder<double, dyn, dyn, dyn> x("x");
    const session s;
    const auto step = s.make_callable(reduce_sum(f(x)), x); // what is timed is the function, not the copy of a fetch
    const auto at = positive(count, n);
    for (auto _ : state) benchmark::DoNotOptimize(step(at));
}

void inverse(benchmark::State& state) {
    run(state, [](const auto& x) { return matrix_inverse(x); });
}
void cholesky_factor(benchmark::State& state) {
    run(state, [](const auto& x) { return cholesky(x); });
}
void solve(benchmark::State& state) {
    run(state, [](const auto& x) { return matrix_solve(x, x); });
}
void singular_vectors(benchmark::State& state) {
    run(state, [](const auto& x) { return std::get<1>(svd(x)); });
}
void eigenvectors(benchmark::State& state) {
    run(state, [](const auto& x) { return std::get<1>(self_adjoint_eig(x)); });
}
void sizes(benchmark::internal::Benchmark* b) { b->Args({1, 16})->Args({1, 128})->Args({1, 512})->Args({10000, 4}); }
BENCHMARK(inverse)->Apply(sizes);
BENCHMARK(cholesky_factor)->Apply(sizes);
BENCHMARK(solve)->Apply(sizes);
BENCHMARK(singular_vectors)->Apply(sizes);
BENCHMARK(eigenvectors)->Apply(sizes);

using number = const int*;

template <class F> F* lapack(const char* name) {
    void* const library = detail::load_library("liblapack.so.3");
    return library ? reinterpret_cast<F*>(detail::library_function(library, name)) : nullptr;
}

void inverse_by_lapack(benchmark::State& state) {
    auto* const factor = lapack<void(number, number, double*, number, int*, int*)>("dgetrf_");
    auto* const invert = lapack<void(number, double*, number, const int*, double*, number, int*)>("dgetri_");
    if (!factor || !invert) return state.SkipWithError("there is no LAPACK");
    const auto at = positive(1, static_cast<std::size_t>(state.range(0)));
    const int n = static_cast<int>(state.range(0)), size = 64 * n;
    std::vector<double> work(static_cast<std::size_t>(size));
    std::vector<int> pivots(static_cast<std::size_t>(n));
    for (auto _ : state) {
        auto a = at;
        int info = 0;
        factor(&n, &n, a.data(), &n, pivots.data(), &info);
        invert(&n, a.data(), &n, pivots.data(), work.data(), &size, &info);
        benchmark::DoNotOptimize(a.data());
    }
}
BENCHMARK(inverse_by_lapack)->Arg(16)->Arg(128)->Arg(512);

void cholesky_by_lapack(benchmark::State& state) {
    auto* const factor = lapack<void(const char*, number, double*, number, int*, std::size_t)>("dpotrf_");
    if (!factor) return state.SkipWithError("there is no LAPACK");
    const auto at = positive(1, static_cast<std::size_t>(state.range(0)));
    const int n = static_cast<int>(state.range(0));
    for (auto _ : state) {
        auto a = at;
        int info = 0;
        factor("U", &n, a.data(), &n, &info, 1);
        benchmark::DoNotOptimize(a.data());
    }
}
BENCHMARK(cholesky_by_lapack)->Arg(16)->Arg(128)->Arg(512);

void singular_vectors_by_lapack(benchmark::State& state) {
    using function = void(const char*, number, number, double*, number, double*, double*, number, double*, number,
                          double*, number, int*, int*, std::size_t);
    auto* const decompose = lapack<function>("dgesdd_");
    if (!decompose) return state.SkipWithError("there is no LAPACK");
    const auto at = positive(1, static_cast<std::size_t>(state.range(0)));
    const int n = static_cast<int>(state.range(0)), size = 8 * n * n + 64 * n;
    std::vector<double> values(static_cast<std::size_t>(n)), u(at.size()), v(at.size()),
        work(static_cast<std::size_t>(size));
    std::vector<int> places(static_cast<std::size_t>(8 * n));
    for (auto _ : state) {
        auto a = at;
        int info = 0;
        decompose("A", &n, &n, a.data(), &n, values.data(), u.data(), &n, v.data(), &n, work.data(), &size,
                  places.data(), &info, 1);
        benchmark::DoNotOptimize(u.data());
    }
}
BENCHMARK(singular_vectors_by_lapack)->Arg(16)->Arg(128)->Arg(512);

void eigenvectors_by_lapack(benchmark::State& state) {
    using function = void(const char*, const char*, number, double*, number, double*, double*, number, int*, number,
                          int*, std::size_t, std::size_t);
    auto* const decompose = lapack<function>("dsyevd_");
    if (!decompose) return state.SkipWithError("there is no LAPACK");
    const auto at = positive(1, static_cast<std::size_t>(state.range(0)));
    const int n = static_cast<int>(state.range(0)), size = 1 + 6 * n + 2 * n * n, count = 3 + 5 * n;
    std::vector<double> values(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(size));
    std::vector<int> places(static_cast<std::size_t>(count));
    for (auto _ : state) {
        auto a = at;
        int info = 0;
        decompose("V", "L", &n, a.data(), &n, values.data(), work.data(), &size, places.data(), &count, &info, 1, 1);
        benchmark::DoNotOptimize(a.data());
    }
}
BENCHMARK(eigenvectors_by_lapack)->Arg(16)->Arg(128)->Arg(512);

/// The inverses of 4 × 4 matrices by plain elimination with pivots.
void small_inverses_by_hand(benchmark::State& state) {
    const auto at = positive(static_cast<std::size_t>(state.range(0)), 4);
    auto to = at;
    for (auto _ : state) {
        for (std::size_t k = 0; k < at.shape(0); ++k) {
            std::array<std::array<double, 8>, 4> a{};
            for (std::size_t i = 0; i < 4; ++i) {
                for (std::size_t j = 0; j < 4; ++j) a[i][j] = at(k, i, j);
                a[i][4 + i] = 1;
            }
            for (std::size_t c = 0; c < 4; ++c) {
                std::size_t best = c;
                for (std::size_t i = c + 1; i < 4; ++i)
                    if (std::abs(a[i][c]) > std::abs(a[best][c])) best = i;
                std::swap(a[c], a[best]);
                const double pivot = a[c][c];
                for (double& v : a[c]) v /= pivot;
                for (std::size_t i = 0; i < 4; ++i) {
                    const double factor = a[i][c];
                    for (std::size_t j = 0; i != c && j < 8; ++j) a[i][j] -= factor * a[c][j];
                }
            }
            for (std::size_t i = 0; i < 4; ++i)
                for (std::size_t j = 0; j < 4; ++j) to(k, i, j) = a[i][4 + j];
        }
        benchmark::DoNotOptimize(to.data());
    }
}
BENCHMARK(small_inverses_by_hand)->Arg(10000);

/// A product of bytes beside one of floats.
void quantized_product(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const graph g;
    const graph_scope here(g);
    const placeholder<float, dyn, dyn> x("x");
    const session s;
    const auto [q, low, high] = quantize<quint8>(x, -1, 1, quantize_mode::min_first);
    const auto made = quantized_matmul(q, q, low, high, low, high);
    const auto step = s.make_callable(
        reduce_sum(dequantize(std::get<0>(made), std::get<1>(made), std::get<2>(made), quantize_mode::min_first)), x);
    xt::xtensor<float, 2> at({n, n});
    for (std::size_t i = 0; i < at.size(); ++i) at.flat(i) = static_cast<float>(i % 200) / 100.f - 1.f;
    for (auto _ : state) benchmark::DoNotOptimize(step(at));
}
BENCHMARK(quantized_product)->Arg(64)->Arg(256)->Arg(1024);

/// oneDNN's product of unsigned and signed bytes into 32 bits, without conversions.
void byte_product_by_onednn(benchmark::State& state) {
    using extent = std::int64_t;
    using function = int(char, char, char, extent, extent, extent, float, const std::uint8_t*, extent, std::uint8_t,
                         const std::int8_t*, extent, std::int8_t, float, std::int32_t*, extent, const std::int32_t*);
    function* multiply = nullptr;
    for (const char* file : {"libdnnl.so.3", "libdnnl.so.2"})
        if (void* const library = multiply ? nullptr : detail::load_library(file))
            multiply = reinterpret_cast<function*>(detail::library_function(library, "dnnl_gemm_u8s8s32"));
    if (!multiply) return state.SkipWithError("there is no oneDNN");
    const extent n = state.range(0);
    const auto size = static_cast<std::size_t>(n * n);
    std::vector<std::uint8_t> a(size);
    std::vector<std::int8_t> b(size);
    std::vector<std::int32_t> c(size);
    for (std::size_t i = 0; i < size; ++i)
        a[i] = static_cast<std::uint8_t>(i % 200), b[i] = static_cast<std::int8_t>(i % 200 - 100);
    const std::int32_t zero = 0;
    for (auto _ : state) {
        multiply('N', 'N', 'F', n, n, n, 1, a.data(), n, 0, b.data(), n, 0, 0, c.data(), n, &zero);
        benchmark::DoNotOptimize(c.data());
    }
}
BENCHMARK(byte_product_by_onednn)->Arg(64)->Arg(256)->Arg(1024);

/// The product of quantised matrices alone: their bytes are variables of the graph.
void quantized_product_alone(benchmark::State& state) {
    const auto n = static_cast<index_t>(state.range(0));
    const graph g;
    const graph_scope here(g);
    const auto a = any_placeholder("a", dtype::quint8, {n, n}), b = any_placeholder("b", dtype::quint8, {n, n});
    const auto made = quantized_matmul(a, b, -1.f, 1.f, -1.f, 1.f);
    const session s;
    auto step = s.make_callable(operation(any_tensor(std::get<0>(made)).node()), a, b); // the sums are not fetched
    any_array at(dtype::quint8, {n, n});
    for (index_t i = 0; i < at.size(); ++i)
        static_cast<quint8*>(at.mutable_data())[i] = quint8{static_cast<std::uint8_t>(i % 200)};
    for (auto _ : state) step(at, at);
}
BENCHMARK(quantized_product_alone)->Arg(64)->Arg(256)->Arg(1024);

} // namespace
