// SPDX-License-Identifier: BSD-3-Clause
// Three LSTM layers, each in a task of its own: while the second layer reads step 1, the first one reads step 2. Several batches go
// through at once. The result is that of one task; a trace counts how often two layers ran at the same time.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <future>
#include <string>
#include <tuple>
#include <vector>

#include <rill/distributed.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr index_t batch = 32, steps = 12, inputs = 32, units = 128;
using sequence = xt::xtensor<float, 3>;

template <index_t In, class Steps> auto add_layer(int number, int tasks, const Steps& of) {
    const name_scope here("layer_" + std::to_string(number));
    const device_scope on("/job:stage/task:" + std::to_string(number % tasks));
    const lstm_cell<In, units> cell("lstm_" + std::to_string(number));
    return std::get<0>(static_rnn(cell, of));
}

struct model {
    placeholder<float, batch, steps, inputs> x{"x"};
    tensor<float> loss;
    operation train;

    explicit model(int tasks) {
        current_graph().set_seed(5);
        const auto first = add_layer<inputs>(0, tasks, unstack<1>(x));
        const auto last = add_layer<units>(2, tasks, add_layer<units>(1, tasks, first)).back();
        const device_scope on("/job:stage/task:0");
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

/// Counts pairs of nodes of different tasks that ran at the same time.
int count_overlaps(const step_trace& trace) {
    int count = 0;
    for (std::size_t a = 0; a < trace.entries.size(); ++a)
        for (std::size_t b = a + 1; b < trace.entries.size(); ++b) {
            const auto &p = trace.entries[a], &q = trace.entries[b];
            count += p.task != q.task && p.what == step_trace::kind::ran && q.what == step_trace::kind::ran &&
                     p.begin < q.end && q.begin < p.end;
        }
    return count;
}

} // namespace

int main() {
    std::vector<std::vector<float>> losses;
    for (const int tasks : {1, 3}) {
        local_cluster all({{"stage", tasks}});
        const graph g;
        const graph_scope here(g);
        const model m(tasks);
        const session s({.target = all.at("stage", 0).target()});
        s.run(global_variables_initializer());
        std::vector<float> seen;
        for (int i = 0; i < 5; ++i)
            seen.push_back(std::get<0>(s.run(std::tuple(m.loss, m.train), feed(m.x, make_batch(i)))));

        // several batches at once, each a step that is started and tells its end
        const auto step = s.make_callable(std::tuple(m.loss), m.x);
        constexpr int at_once = 4;
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
        const int overlaps = count_overlaps(trace);
        std::printf(
            "%d tasks: loss %.5f to %.5f; %d batches at once %.1f ms; %d pairs of nodes of two tasks overlapped\n",
            tasks, static_cast<double>(seen[0]), static_cast<double>(seen[4]), at_once, together.count(), overlaps);
        if (tasks > 1) expect(overlaps > 0, "layers run at the same time");
        losses.push_back(seen);
    }
    for (std::size_t i = 0; i < losses[0].size(); ++i)
        expect(std::abs(losses[0][i] - losses[1][i]) < 1e-6f, "one task and three learn the same, but for rounding");
    expect(losses[0][4] < losses[0][0], "it learns");
}
