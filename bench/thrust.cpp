// SPDX-License-Identifier: BSD-3-Clause
// The device "thrust" on the threads of OpenMP beside the device "cpu" on those of a session: large maps, their gradients, sums and rows. Each
// run leaves its result on the device.
#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <tuple>

#include <benchmark/benchmark.h>

#include <rill/rill.hpp>

using namespace rill;

namespace {

constexpr index_t many = 10'000'000, rows = 8192, columns = 1024;

/// Times runs of what `make` gives, on a device and on all threads of the machine.
template <class Make>
void time_on(benchmark::State& state, const std::string& device, index_t bytes, const Make& make) {
    const graph g;
    const graph_scope here(g);
    const device_scope there(device);
    const auto value = make();
    const session s;
    s.run(global_variables_initializer());
    const auto call = s.make_callable(operation(value));
    call();
    for (auto _ : state) call();
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * bytes);
}

const auto drawn = random_uniform({.minval = -1, .maxval = 1, .seed = 7});

template <class X> auto chain(const X& x) { // 11 operations
    return 0.5f * x * (1.f + tanh(0.79788456f * (x + 0.044715f * x * x * x))) + 0.1f * x;
}

void chain_1e7(benchmark::State& state, const std::string& device) {
    time_on(state, device, 8 * many, [] { return tensor(chain(variable<float, many>("x", drawn))); });
}
void chain_gradient_1e7(benchmark::State& state, const std::string& device) {
    time_on(state, device, 8 * many, [] {
        const variable<float, many> x("x", drawn);
        return std::get<0>(gradients(reduce_sum(chain(x)), x));
    });
}
void add_1e7(benchmark::State& state, const std::string& device) {
    time_on(state, device, 12 * many, [] {
        const variable<float, many> x("x", drawn), y("y", drawn);
        return tensor(x + y);
    });
}
void sum_1e7(benchmark::State& state, const std::string& device) {
    time_on(state, device, 4 * many, [] { return reduce_sum(tensor(variable<float, many>("x", drawn))); });
}
void softmax_8192x1024(benchmark::State& state, const std::string& device) {
    time_on(state, device, 8 * rows * columns, [] { return softmax(variable<float, rows, columns>("x", drawn)); });
}

} // namespace

#define RILL_ON_BOTH(row)                                                                                              \
    BENCHMARK_CAPTURE(row, cpu, std::string("/cpu:0"))->UseRealTime();                                                 \
    BENCHMARK_CAPTURE(row, thrust, std::string("/device:thrust:0"))->UseRealTime()

RILL_ON_BOTH(chain_1e7);
RILL_ON_BOTH(chain_gradient_1e7);
RILL_ON_BOTH(add_1e7);
RILL_ON_BOTH(sum_1e7);
RILL_ON_BOTH(softmax_8192x1024);
