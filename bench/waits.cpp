// SPDX-License-Identifier: BSD-3-Clause
// Steps that wait: how soon a cancellation ends one, with and without a thread, and what a thousand of them cost.
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <thread>

#include <benchmark/benchmark.h>

#include "models.hpp"

using namespace rill;
using namespace std::chrono_literals;

namespace {

using steady = std::chrono::steady_clock;

/// A queue between steps.
struct model {
    graph g;
    graph_scope here{g};
    fifo_queue<tensor<int>> queue = fifo_queue<tensor<int>>({.capacity = 10});
    placeholder<int> n{"n"};
    operation put = queue.enqueue(n);
    tensor<int> take = queue.dequeue();
    session s{g};
};

void set_time(benchmark::State& state, steady::duration d) {
    state.SetIterationTime(std::chrono::duration<double>(d).count());
}

/// From the cancellation to the exception in the thread that waits.
void cancel_blocked(benchmark::State& state) {
    const model m;
    for (auto _ : state) {
        const cancellation_token token;
        steady::time_point end;
        std::thread waits([&] {
            try {
                m.s.run(m.take, {.cancel = token});
            } catch (const cancelled&) {
                end = steady::now();
            }
        });
        std::this_thread::sleep_for(2ms); // until it waits
        const auto begin = steady::now();
        token.cancel();
        waits.join();
        set_time(state, end - begin);
    }
}
BENCHMARK(cancel_blocked)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// From the cancellation to the callback of a step that has no thread.
void cancel_started(benchmark::State& state) {
    const model m;
    const auto take = m.s.make_callable(m.take);
    for (auto _ : state) {
        const cancellation_token token;
        std::promise<steady::time_point> end;
        take.with({.cancel = token}).start([&](const std::exception_ptr&, const auto&) {
            end.set_value(steady::now());
        });
        std::this_thread::sleep_for(2ms);
        const auto begin = steady::now();
        token.cancel();
        set_time(state, end.get_future().get() - begin);
    }
}
BENCHMARK(cancel_started)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// A thousand steps that wait for an element each, and a thousand calls that bring them.
void thousand_waiting(benchmark::State& state) {
    const model m;
    const auto take = m.s.make_callable(m.take);
    const auto put = m.s.make_callable(m.put, m.n);
    for (auto _ : state) {
        std::atomic<int> came{0};
        for (int i = 0; i < 1000; ++i) take.start([&](const std::exception_ptr&, const auto&) { ++came; });
        for (int i = 0; i < 1000; ++i) put(i);
        while (came < 1000) std::this_thread::yield();
    }
    state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(thousand_waiting)->UseRealTime()->Unit(benchmark::kMicrosecond);

} // namespace
