// SPDX-License-Identifier: BSD-3-Clause
// A bound step run 10,000 times with feeds whose values and shapes change: training by batches of 1 to 7 rows, numbers that one run leaves in
// variables for the next, and captured runs and loops beside others. The argument is the number of runs.
#include "common.hpp"

namespace gpu_test {

void training(int runs) {
    on_both(std::to_string(runs) + " steps of training with changing batches", [&] {
        placeholder<float, dyn, 4> x("x");
        placeholder<float, dyn> wanted("wanted");
        const auto y = reshape<dyn>(dense<8, 1>("two", tanh(dense<4, 8>("one", x))));
        const auto loss = reduce_mean(square(y - wanted));
        const auto step = gradient_descent(0.05f).minimize(loss);
        const session s;
        s.run(global_variables_initializer());
        numbers got;
        for (int i = 0; i < runs; ++i) {
            const auto xs = drawn(1 + static_cast<std::size_t>(i) % 7, 4, static_cast<unsigned>(i));
            std::vector<float> ys;
            for (std::size_t r = 0; r < xs.shape(0); ++r) ys.push_back(xs(r, 0) * xs(r, 1));
            const float now = std::get<0>(s.run(std::tuple(loss, step), feed(x, xs), feed(wanted, ys)));
            if (i % 100 == 99) got.push_back(static_cast<double>(now));
        }
        return got;
    });
}

/// A number that 10,000 runs add up: each must find what the one before has left.
void counting(int runs) {
    const graph g;
    const graph_scope here(g);
    variable<int> count("count", 0);
    variable<int, 3> sums("sums", constant_initializer(0));
    placeholder<int, 3> by("by");
    const auto step = group(count.assign_add(1), sums.assign_add(by));
    const session s;
    s.run(global_variables_initializer());
    int wrong = 0;
    std::vector<int> wanted(3);
    for (int i = 0; i < runs; ++i) {
        const std::vector<int> next{i, -i, i % 5};
        for (std::size_t k = 0; k < 3; ++k) wanted[k] += next[k] % 1000;
        s.run(step, feed(by, {next[0] % 1000, next[1] % 1000, next[2]}));
        if (i % 97 != 0 && i + 1 != runs) continue;
        const auto [n, all] = s.run(std::tuple(count, sums));
        wrong += n != i + 1 || !std::equal(wanted.begin(), wanted.end(), all.begin());
    }
    expect(wrong == 0, std::to_string(runs) + " runs that add up, " + std::to_string(wrong) + " wrong sums");
}

/// The same run twice gives the same bits.
void repeating(int runs) {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, dyn> x("x");
    const auto y = reduce_sum(softmax(x) * exp(x));
    const session s;
    std::vector<float> first;
    int wrong = 0;
    for (int i = 0; i < runs; ++i) {
        const auto k = static_cast<std::size_t>(i) % 50;
        const float now = s.run(y, feed(x, drawn(10 + k, 300 - k, static_cast<unsigned>(k))));
        if (first.size() == k)
            first.push_back(now);
        else
            wrong += now != first[k];
    }
    expect(wrong == 0,
           std::to_string(runs) + " runs of 50 inputs, " + std::to_string(wrong) + " that differ in their bits");
}

/// Runs that are captured as CUDA graphs give the bits of runs that are not: with random numbers, feeds of two shapes, errors in data and
/// readers of variables between them.
void capturing(int runs) {
    const auto train = [&](bool graphs) {
        const graph g;
        const graph_scope here(g);
        placeholder<float, dyn, 4> x("x");
        placeholder<int, dyn> ids("ids");
        variable<float, 500, 8> table("table", constant_initializer(0.5f));
        variable<int> count("count", 0);
        const auto hidden = dropout(tanh(dense<4, 8>("one", x)), 0.8f) + gather(table, ids);
        const auto loss = reduce_mean(square(dense<8, 3>("two", hidden)));
        const auto step = group(adam({.learning_rate = 0.01}).minimize(loss), count.assign_add(1));
        const session s({.gpu = {.virtual_devices = {{64 << 20}}, .cuda_graphs = graphs}});
        s.run(global_variables_initializer());
        std::vector<float> got;
        int refused = 0;
        for (int i = 0; i < runs; ++i) {
            const std::size_t rows = i % 9 == 8 ? 5 : 32;
            std::vector<int> rows_of(rows, i % 500);
            if (i % 50 == 40) rows_of[rows - 1] = 500; // outside the table
            try {
                s.run(step, feed(x, drawn(rows, 4, static_cast<unsigned>(i))), feed(ids, rows_of));
            } catch (const error&) {
                ++refused;
            }
            if (i % 30 == 29)
                for (const float v : s.run(table)) got.push_back(v);
        }
        got.push_back(static_cast<float>(refused));
        got.push_back(static_cast<float>(s.run(count)));
        return got;
    };
    expect(train(true) == train(false), std::to_string(runs) + " captured runs, with the bits of runs that are not");
}

/// Loops that the device runs by itself give the bits of those whose iterations the host starts: of changing lengths, with errors in data.
void looping(int runs) {
    const auto run_all = [&](bool graphs) {
        const graph g;
        const graph_scope here(g);
        placeholder<float, 32> x("x");
        placeholder<int> most("most");
        placeholder<float, 12, 32> rows("rows");
        placeholder<int, 4> ids("ids");
        const auto [count, root] = while_loop(
            [&](const auto& i, const auto& v) { return logical_and(i < most, reduce_max(abs(v * v - x)) > 1e-3f); },
            [&](const auto& i, const auto& v) { return std::tuple(i + 1, tensor(0.5f * (v + x / v))); },
            std::tuple(constant(0), tensor(x * 0.f + 40.f)));
        const auto [steps, sum, last] =
            while_loop([&](const auto& i, const auto&, const auto&) { return i < most; },
                       [&](const auto& i, const auto& total, const auto& at) {
                           return std::tuple(i + 1, tensor(total + reduce_sum(gather<0>(x, at))), tensor(at + 1));
                       },
                       std::tuple(constant(0), constant(0.f), tensor(ids)));
        const auto states = scan([](const auto& h, const auto& row) { return tensor(tanh(h + cumsum<0>(row) * 0.1f)); },
                                 tensor(x), rows);
        const auto [slope] = gradients(reduce_sum(square(states)), x);
        const session s({.gpu = {.virtual_devices = {{64 << 20}}, .cuda_graphs = graphs}});
        numbers got;
        int refused = 0;
        for (int i = 0; i < runs; ++i) {
            const int n = i % 40 == 39 ? 600 : i % 25; // 600 iterations need three starts, and ids leave x
            std::vector<float> value;
            for (const float v : drawn(1, 32, static_cast<unsigned>(i))) value.push_back(std::abs(v) + 0.5f);
            try {
                const auto [c, r, k, t, h, d] =
                    s.run(std::tuple(count, root, steps, sum, states, slope), feed(x, value), feed(most, n),
                          feed(rows, drawn(12, 32, static_cast<unsigned>(i))), feed(ids, {0, 1, 2, 3}));
                got.insert(got.end(), {double(c), double(r(7)), double(k), double(t), double(h(11, 31)), double(d(3))});
            } catch (const error&) {
                ++refused;
            }
        }
        got.push_back(refused);
        return got;
    };
    expect(run_all(true) == run_all(false), std::to_string(runs) + " runs of captured loops, with the bits of others");
}

} // namespace gpu_test

int main(int count, char** arguments) {
    using namespace gpu_test;
    begin();
    const int runs = rounds(count, arguments, 1, 10'000);
    training(runs), counting(runs), repeating(runs / 10), capturing(runs / 10), looping(runs / 10);
    return end();
}
