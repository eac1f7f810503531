// SPDX-License-Identifier: BSD-3-Clause
// Three LSTM layers, each on a device of its own: three tasks of a cluster, each a process, or three devices of one process. Several batches
// go through at once. The result is that of one task; traces count how often two layers ran at the same time. In tasks, that happens within a batch:
// while the second layer reads step 1, the first one reads step 2. Devices of one process share the thread of a batch, so there it is the
// layers of different batches. This process is the first task; it starts the others of itself.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "child_process.hpp"
#include "expect.hpp"

using namespace rill;

namespace {

constexpr index_t batch = 32, steps = 12, inputs = 32, units = 128;
constexpr int at_once = 4; // batches
using sequence = xt::xtensor<float, 3>;

/// Where the layers lie: on `count` devices, whose names begin alike.
struct stages {
    std::string device;
    int count;
    std::string of(int layer) const { return device + std::to_string(layer % count); }
    bool is_cluster() const { return device.starts_with("/job:"); }
};

template <index_t In, class Steps> auto add_layer(int number, const stages& where, const Steps& of) {
    const name_scope here("layer_" + std::to_string(number));
    const device_scope on(where.of(number));
    const lstm_cell<In, units> cell("lstm_" + std::to_string(number));
    return std::get<0>(static_rnn(cell, of));
}

struct model {
    placeholder<float, batch, steps, inputs> x{"x"};
    tensor<float> loss;
    operation train;

    explicit model(const stages& where) {
        current_graph().set_seed(5);
        const device_scope on(where.of(0));
        const auto first = add_layer<inputs>(0, where, unstack<1>(x));
        const auto last = add_layer<units>(2, where, add_layer<units>(1, where, first)).back();
        loss = reduce_mean(square(last - 0.25f));
        train = gradient_descent(0.5f).minimize(loss);
    }
};

sequence make_batch(int number) {
    sequence x({batch, steps, inputs});
    std::size_t i = 0;
    for (float& v : x) v = std::sin(static_cast<float>(++i) * 0.1f + static_cast<float>(number));
    return x;
}

/// Returns the number of the layer that a node belongs to; -1 if it belongs to none.
int layer_of(const step_trace::entry& e) {
    return e.node.starts_with("layer_") ? e.node[std::string("layer_").size()] - '0' : -1;
}

/// Counts pairs of nodes of different layers that ran at the same time.
int count_overlaps(const step_trace& trace) {
    int count = 0;
    for (std::size_t a = 0; a < trace.entries.size(); ++a)
        for (std::size_t b = a + 1; b < trace.entries.size(); ++b) {
            const auto &p = trace.entries[a], &q = trace.entries[b];
            count += layer_of(p) >= 0 && layer_of(q) >= 0 && layer_of(p) != layer_of(q) &&
                     p.what == step_trace::kind::ran && q.what == step_trace::kind::ran && p.begin < q.end &&
                     q.begin < p.end;
        }
    return count;
}

/// Runs a step for each of several batches at once, each in a thread of its own. Returns one trace of them all. A node counts from when it
/// has certainly begun: a trace begins a little after its step.
template <class Step> step_trace trace_at_once(const Step& step) {
    using clock = std::chrono::steady_clock;
    const auto origin = clock::now();
    const auto now = [&] { return std::chrono::nanoseconds(clock::now() - origin).count(); };
    std::vector<step_trace> each(at_once);
    std::vector<std::thread> threads;
    for (int i = 0; i < at_once; ++i)
        threads.emplace_back([&, i, x = make_batch(i)] {
            auto& entries = each[static_cast<std::size_t>(i)].entries;
            const auto begin = now();
            step.with({.trace = &each[static_cast<std::size_t>(i)]})(x);
            const auto lasted = now() - begin;
            std::int64_t last = 0;
            for (const auto& e : entries) last = std::max(last, e.end);
            for (auto& e : entries) e.begin += begin + lasted - last, e.end += begin;
        });
    for (auto& t : threads) t.join();
    step_trace all;
    for (const auto& t : each)
        for (const auto& e : t.entries)
            if (e.begin < e.end) all.entries.push_back(e);
    return all;
}

/// Trains the model, runs several batches at once, and traces steps. Returns the losses.
std::vector<float> run(const char* what, const stages& where, const session_options& how) {
    const graph g;
    const graph_scope here(g);
    const model m(where);
    const session s(how);
    s.run(global_variables_initializer());
    std::vector<float> seen;
    for (int i = 0; i < 5; ++i)
        seen.push_back(std::get<0>(s.run(std::tuple(m.loss, m.train), feed(m.x, make_batch(i)))));

    // several batches at once, each a step that is started and tells its end
    const auto step = s.make_callable(std::tuple(m.loss), m.x);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::promise<float>> told(at_once);
    for (int i = 0; i < at_once; ++i)
        step.start(make_batch(i), [&told, i](std::exception_ptr problem, auto values) {
            auto& to = told[static_cast<std::size_t>(i)];
            problem ? to.set_exception(problem) : to.set_value(std::get<0>(values));
        });
    for (auto& t : told) seen.push_back(t.get_future().get());
    const std::chrono::duration<double, std::milli> together = std::chrono::steady_clock::now() - begin;

    const auto [value, trace] = s.run_traced(m.loss, feed(m.x, make_batch(0)));
    seen.push_back(value);
    int overlaps = where.is_cluster() ? count_overlaps(trace) : 0;
    for (int tries = 0; overlaps == 0 && tries < 20; ++tries) // a busy machine may need several
        overlaps = where.is_cluster() ? count_overlaps(s.run_traced(m.loss, feed(m.x, make_batch(0))).second)
                                      : count_overlaps(trace_at_once(step));
    std::printf("%s: loss %.5f to %.5f; %d batches at once %.1f ms; %d pairs of nodes of two layers overlapped in %s\n",
                what, static_cast<double>(seen[0]), static_cast<double>(seen[4]), at_once, together.count(), overlaps,
                where.is_cluster() ? "a batch" : "these batches");
    if (where.count > 1) expect(overlaps > 0, "layers run at the same time");
    return seen;
}

} // namespace

int main(int argc, char** argv) {
    if (!has_child_processes) return 0;
    if (argc > 2) { // a process that is started below: its task, and the addresses of all
        server node({{"stage", {argv + 2, argv + argc}}}, "stage", std::atoi(argv[1]));
        node.join();
        return 0;
    }
    std::vector<std::vector<float>> losses;
    for (const int tasks : {1, 3}) {
        const auto at = free_addresses(tasks);
        std::vector<std::unique_ptr<child_process>> others;
        for (int task = 1; task < tasks; ++task) others.push_back(start_task(argv[0], {std::to_string(task)}, at));
        const server node({{"stage", at}}, "stage", 0);
        const std::string name = std::to_string(tasks) + (tasks == 1 ? " task" : " tasks");
        losses.push_back(run(name.c_str(), {"/job:stage/task:", tasks}, {.target = node.target()}));
    }
    losses.push_back(
        run("3 devices of one process", {"/cpu:", 3}, {.device_count = {{"cpu", 3}}, .partition_devices = true}));
    for (const auto& other : {losses[1], losses[2]})
        for (std::size_t i = 0; i < losses[0].size(); ++i)
            expect(std::abs(losses[0][i] - other[i]) < 1e-6f, "all learn the same, but for rounding");
    expect(losses[0][4] < losses[0][0], "it learns");
}
