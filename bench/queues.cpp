// SPDX-License-Identifier: BSD-3-Clause
// Queues and shared variables: a pair of enqueue and dequeue, batches beside the copy of their bytes, two sessions with a queue between
// them, and threads that push into one large variable, which another one pulls.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <rill/resources/variable_state.hpp>
#include <rill/session/local_session_core.hpp>

#include "models.hpp"

using namespace rill;

namespace {

void queue_pair(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    const auto pair = models::queue_pair();
    for (auto _ : state) benchmark::DoNotOptimize(pair());
}
BENCHMARK(queue_pair);

/// One element of 4 MB, computed by the step that puts it in, and taken out by another.
void queue_large(benchmark::State& state) {
    constexpr index_t large = 1 << 20;
    const graph g;
    const graph_scope here(g);
    const fifo_queue<tensor<float, large>> q({.capacity = 10});
    placeholder<float> x("x");
    const session s;
    const auto put = s.make_callable(q.enqueue(fill<large>(1.f) * x), x);
    const auto size = s.make_callable(std::tuple(q.size()));
    const auto take = s.make_callable(group(q.dequeue()));
    for (auto _ : state) {
        put(1.f);
        benchmark::DoNotOptimize(size());
        state.PauseTiming();
        take();
        state.ResumeTiming();
    }
}
BENCHMARK(queue_large);

constexpr index_t width = 64;

/// A thousand elements of 64 floats in and out; "copies" is the time in copies of their bytes, one for each way.
void queue_batch(benchmark::State& state) {
    const graph g;
    const graph_scope here(g);
    const fifo_queue<tensor<float, width>> q({.capacity = 1000});
    placeholder<float, 1000, width> x("x");
    const session s;
    const auto put = s.make_callable(q.enqueue_many(x), x);
    const auto take = s.make_callable(std::tuple(q.dequeue_many<1000>()));
    const xt::xtensor<float, 2> values(std::array<std::size_t, 2>{1000, width}, 1.f);
    for (auto _ : state) {
        put(values);
        benchmark::DoNotOptimize(take());
    }
    state.SetBytesProcessed(state.iterations() * 2 * 1000 * width * static_cast<std::int64_t>(sizeof(float)));
}
BENCHMARK(queue_batch);

void copied_batch(benchmark::State& state) {
    std::vector<float> from(1000 * width, 1.f), to(from.size());
    for (auto _ : state) {
        std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
        benchmark::DoNotOptimize(to.data());
        std::memcpy(from.data(), to.data(), from.size() * sizeof(float));
        benchmark::DoNotOptimize(from.data());
    }
    state.SetBytesProcessed(state.iterations() * 2 * 1000 * width * static_cast<std::int64_t>(sizeof(float)));
}
BENCHMARK(copied_batch);

/// A producer's and a consumer's session, in two threads, with a queue of that capacity between them.
void queue_between_sessions(benchmark::State& state) {
    session::reset();
    const graph g;
    const graph_scope here(g);
    const fifo_queue<tensor<float>> q({.capacity = state.range(0), .shared_name = "between"});
    placeholder<float> x("x");
    const auto put = q.enqueue(x), end = q.close();
    const auto got = q.dequeue();
    std::thread producer([&] {
        const session s(g);
        const auto call = s.make_callable(put, x);
        try {
            for (;;) call(1.f);
        } catch (const cancelled&) {}
    });
    {
        const session s(g);
        const auto take = s.make_callable(std::tuple(got));
        for (auto _ : state) benchmark::DoNotOptimize(take());
        s.run(q.close({.cancel_pending_enqueues = true}));
    }
    producer.join();
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_between_sessions)->Arg(1)->Arg(100)->UseRealTime();

constexpr index_t large = 10'000'000;

/// Four threads add to 10^7 floats while a fifth reads: whole versions, or in place.
void pushes(benchmark::State& state) {
    static graph g;
    static std::unique_ptr<session> s;
    static operation push;
    static tensor<float> read;
    if (state.thread_index() == 0) {
        g = graph();
        const graph_scope here(g);
        const variable<float, large> v(
            "v", fill<large>(0.f),
            {.updates = state.range(0) ? variable_updates::in_place : variable_updates::versioned});
        push = operation(v.assign_add(fill<large>(1.f)).node());
        read = reduce_sum(v);
        s = std::make_unique<session>(g, session_options{.inter_op_threads = 0, .intra_op_threads = 1});
        s->run(v.initializer());
        s->run(push);
        s->run(read);
    }
    for (auto _ : state) {
        if (state.thread_index() == 0)
            benchmark::DoNotOptimize(s->run(read));
        else
            s->run(push);
    }
    state.SetBytesProcessed(state.iterations() * large * static_cast<std::int64_t>(sizeof(float)));
}
BENCHMARK(pushes)->ArgName("in_place")->Arg(0)->Arg(1)->Threads(5)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Four threads push gradients into 10^7 floats: the items are pushes. With a reader, a fifth thread takes a reference every millisecond and
/// holds it until the next, as a send in flight does. `read_us` and `longest_read_us` are how long that takes: next to nothing but locks.
void pushes_beside_pulls(benchmark::State& state) {
    struct shared_state {
        std::shared_ptr<detail::local_session_core> core;
        std::shared_ptr<detail::prepared_run> push;
        std::shared_ptr<detail::variable_state> value;
        any_array gradient;
        std::atomic<bool> done{false};
        std::thread reader;
        double reads = 0, all_us = 0, longest_us = 0;

        void push_once() { push->run(std::span(&gradient, 1)); }
        void pull() {
            std::shared_ptr<detail::element_block> held;
            for (; !done; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
                const auto begin = std::chrono::steady_clock::now();
                auto now = value->read();
                const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
                held = std::move(now);
                ++reads;
                all_us += took.count();
                longest_us = std::max(longest_us, took.count());
            }
        }
    };
    static std::unique_ptr<shared_state> s;
    if (state.thread_index() == 0) {
        s = std::make_unique<shared_state>();
        const graph g;
        const graph_scope here(g);
        const variable<float, large> v("v", fill<large>(0.f));
        const placeholder<float, large> gradient("gradient");
        const auto* push = v.assign_sub(gradient * 0.01f).node();
        s->core = detail::make_local_session_core(g, {.inter_op_threads = 0, .intra_op_threads = 1});
        s->core->find_run({{}, {v.initializer().node()}, {}})->run({});
        s->push = s->core->find_run({{}, {push}, {gradient}});
        s->value = s->core->shared(v.node());
        s->gradient = any_array(dtype::float32, dims{large});
        std::fill_n(static_cast<float*>(s->gradient.mutable_data()), large, 1.f);
        s->push_once();
        if (state.range(0)) {
            const auto held = s->value->read(); // a first reader: the writes that follow expect more
            s->push_once();
            s->reader = std::thread([] { s->pull(); });
        }
    }
    for (auto _ : state) s->push_once();
    state.SetItemsProcessed(state.iterations());
    if (state.thread_index() != 0) return;
    s->done = true;
    if (s->reader.joinable()) {
        s->reader.join();
        state.counters["read_us"] = s->all_us / s->reads;
        state.counters["longest_read_us"] = s->longest_us;
    }
    s.reset();
}
BENCHMARK(pushes_beside_pulls)
    ->ArgName("reader")
    ->Arg(0)
    ->Arg(1)
    ->Threads(4)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
