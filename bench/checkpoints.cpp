// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints and summaries: save and restore of 64 MiB beside a plain copy that is synced, how long the caller of save_later is held up, a loop of
// steps with and without a checkpoint each second, and what a summary costs.
#include <chrono>
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>

#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/state/variable.hpp>
#include <rill/ops/summary/histogram_summary.hpp>
#include <rill/ops/summary/image_summary.hpp>
#include <rill/ops/summary/scalar_summary.hpp>
#include <rill/summary/event_writer.hpp>
#include <rill/summary/merged_summaries.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/saver.hpp>

using namespace rill;

namespace {

constexpr index_t rows = 16, columns = 1 << 20; // 64 MiB of floats
const std::string directory = "bench_checkpoints_run";

struct model {
    graph g;
    graph_scope here{g};
    variable<float, rows, columns> w{"w", 0.5f};
    operation step{w.assign_add(1.f).node()};
    session s{g};

    model() { s.run(global_variables_initializer()); }
};

/// Removes what the benchmarks have written.
const struct cleaner {
    ~cleaner() { std::filesystem::remove_all(directory); }
} at_end;

void count_bytes(benchmark::State& state) { state.SetBytesProcessed(state.iterations() * rows * columns * 4); }

/// A file of the same bytes, written and synced: the least that a save can take.
void copy_and_sync(benchmark::State& state) {
    detail::make_directories(file_system::real(), directory);
    const std::string bytes(static_cast<std::size_t>(rows * columns * 4), '\1');
    for (auto _ : state) {
        const auto to = file_system::real().create(directory + "/copy");
        to->append(bytes);
        to->sync();
        to->close();
    }
    count_bytes(state);
}
BENCHMARK(copy_and_sync)->Unit(benchmark::kMillisecond)->UseRealTime();

void save_all(benchmark::State& state) {
    const model m;
    saver keep({.max_to_keep = 2});
    std::int64_t step = 0;
    for (auto _ : state) keep.save(m.s, directory + "/save", ++step);
    count_bytes(state);
}
BENCHMARK(save_all)->Unit(benchmark::kMillisecond)->UseRealTime();

void restore_all(benchmark::State& state) {
    const model m;
    saver keep({.max_to_keep = 2});
    const auto path = keep.save(m.s, directory + "/restore", 1);
    for (auto _ : state) keep.restore(m.s, path);
    count_bytes(state);
}
BENCHMARK(restore_all)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Weights in the format of safetensors, to compare with its own library: bench/peers/savers.py.
void save_as_safetensors(benchmark::State& state) {
    const model m;
    detail::make_directories(file_system::real(), directory);
    for (auto _ : state) save_safetensors(m.s, directory + "/w.safetensors");
    count_bytes(state);
}
BENCHMARK(save_as_safetensors)->Unit(benchmark::kMillisecond)->UseRealTime();

void load_from_safetensors(benchmark::State& state) {
    const model m;
    detail::make_directories(file_system::real(), directory);
    save_safetensors(m.s, directory + "/w.safetensors");
    for (auto _ : state) load_safetensors(m.s, directory + "/w.safetensors");
    count_bytes(state);
}
BENCHMARK(load_from_safetensors)->Unit(benchmark::kMillisecond)->UseRealTime();

/// How long save_later holds up its caller, with nothing being written before.
void pause(benchmark::State& state) {
    const model m;
    saver keep({.max_to_keep = 2});
    std::int64_t step = 0;
    for (auto _ : state) {
        keep.wait();
        const auto begin = std::chrono::steady_clock::now();
        keep.save_later(m.s, directory + "/pause", ++step);
        state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
}
BENCHMARK(pause)->Unit(benchmark::kMicrosecond)->UseManualTime()->Iterations(10);

/// A loop of steps that write the whole variable. Argument: whether a checkpoint is saved each second.
void steps(benchmark::State& state) {
    const model m;
    saver keep({.max_to_keep = 2});
    auto last = std::chrono::steady_clock::now();
    std::int64_t step = 0;
    for (auto _ : state) {
        m.s.run(m.step);
        ++step;
        if (state.range(0) == 0 || std::chrono::steady_clock::now() - last < std::chrono::seconds(1)) continue;
        keep.save_later(m.s, directory + "/steps", step);
        last = std::chrono::steady_clock::now();
    }
}
BENCHMARK(steps)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void scalar(benchmark::State& state) {
    event_writer log(directory + "/logs");
    std::int64_t step = 0;
    for (auto _ : state) log.scalar("loss", 0.5, ++step);
}
BENCHMARK(scalar)->Unit(benchmark::kNanosecond);

void histogram_of_10000(benchmark::State& state) {
    event_writer log(directory + "/logs");
    const xt::xtensor<float, 1> values = xt::linspace<float>(-1.f, 1.f, 10000);
    std::int64_t step = 0;
    for (auto _ : state) log.histogram("w", values, ++step);
}
BENCHMARK(histogram_of_10000)->Unit(benchmark::kMicrosecond);

void image_of_64_by_64(benchmark::State& state) {
    event_writer log(directory + "/logs");
    const xt::xtensor<float, 3> picture = xt::ones<float>({64, 64, 3});
    std::int64_t step = 0;
    for (auto _ : state) log.image("filters", picture, ++step);
}
BENCHMARK(image_of_64_by_64)->Unit(benchmark::kMicrosecond);

/// Steps of a small model. Argument: how many of its summaries each step computes and writes: none, or three scalars, a histogram and a picture.
void step_with_summaries(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    const variable<float, 64, 64> w("w", 0.5f);
    const operation step(w.assign_add(1.f).node());
    const tensor<float> sum = reduce_sum(w);
    for (const char* name : {"a", "b", "c"}) scalar_summary(name, sum);
    histogram_summary("w", w);
    image_summary("picture", w);
    const auto merged = merged_summaries();
    const session s(g);
    s.run(global_variables_initializer());
    event_writer log(directory + "/logs");
    std::int64_t number = 0;
    for (auto _ : state) {
        ++number;
        if (state.range(0) == 0)
            s.run(step);
        else
            log.add(std::get<0>(s.run(std::tuple(merged, step))), number);
    }
}
BENCHMARK(step_with_summaries)->Arg(0)->Arg(5)->Unit(benchmark::kMicrosecond);

void graph_of_50000_nodes(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    tensor<float> x = constant(1.f);
    for (int i = 0; i < 50000; ++i) x = identity(x);
    event_writer log(directory + "/logs");
    for (auto _ : state) log.add_graph(g);
}
BENCHMARK(graph_of_50000_nodes)->Unit(benchmark::kMillisecond);

} // namespace
