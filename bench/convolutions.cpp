// SPDX-License-Identifier: BSD-3-Clause
// Convolutions on one thread: the result, its gradient by the images and its gradient by the filter. Counts the multiplications and additions.
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "models.hpp"

using namespace rill;

namespace {

enum class part { forward, by_input, by_filter };

/// A square filter of `Size` on square images of `Side`, SAME; the extents of the output follow from the stride.
template <index_t Batch, index_t Side, index_t In, index_t Out, index_t Size, index_t Stride = 1>
void convolution(benchmark::State& state, part what) {
    constexpr index_t side = (Side + Stride - 1) / Stride;
    const graph g;
    const graph_scope here(g);
    const variable<float, Batch, Side, Side, In> x("x", random_normal({.seed = 1}));
    const variable<float, Size, Size, In, Out> f("f", random_normal({.seed = 2}));
    const variable<float, Batch, side, side, Out> dy("dy", random_normal({.seed = 3}));
    const tensor y = conv2d<window{.strides = {Stride, Stride}, .padding = padding::same}>(x, f);
    const auto all = gradients({y}, {x, f}, {.grad_ys = {dy}});
    const tensor<float, Batch, Side, Side, In> dx(all[0]);
    const tensor<float, Size, Size, In, Out> df(all[1]);
    const auto s = models::ready();
    const auto time = [&](const auto& result, auto& to) {
        const auto call = s->make_callable(result);
        for (auto _ : state) call.into(to)();
    };
    using sizes = std::array<std::size_t, 4>;
    switch (what) {
    case part::forward: {
        xt::xtensor<float, 4> to(sizes{Batch, side, side, Out});
        time(y, to);
        break;
    }
    case part::by_input: {
        xt::xtensor<float, 4> to(sizes{Batch, Side, Side, In});
        time(dx, to);
        break;
    }
    case part::by_filter: {
        xt::xtensor<float, 4> to(sizes{Size, Size, In, Out});
        time(df, to);
    }
    }
    const double each = 2. * Batch * side * side * Out * Size * Size * In;
    state.counters["FLOP/s"] = benchmark::Counter(each, benchmark::Counter::kIsIterationInvariantRate);
}

template <index_t... Shape> void add(const char* name) {
    for (const auto& [what, of] : {std::pair(part::forward, "forward"), std::pair(part::by_input, "by_input"),
                                   std::pair(part::by_filter, "by_filter")})
        benchmark::RegisterBenchmark((std::string(name) + "/" + of).c_str(), [what](benchmark::State& state) {
            convolution<Shape...>(state, what);
        })->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool added = [] {
    add<32, 56, 64, 64, 3>("3x3_64_to_64_of_32x56x56");
    add<64, 28, 1, 32, 5>("5x5_1_to_32_of_64x28x28");
    add<64, 14, 32, 64, 5>("5x5_32_to_64_of_64x14x14");
    add<16, 28, 128, 128, 3>("3x3_128_to_128_of_16x28x28");
    add<8, 112, 3, 64, 7, 2>("7x7_3_to_64_stride_2_of_8x112x112");
    return true;
}();

} // namespace
