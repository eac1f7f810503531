// SPDX-License-Identifier: BSD-3-Clause
// A bound step run 10,000 times with feeds whose values and shapes change: training by batches of 1 to 7 rows, and numbers that one run
// leaves in variables for the next. The argument is the number of runs.
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

} // namespace gpu_test

int main(int count, char** arguments) {
    using namespace gpu_test;
    begin();
    const int runs = rounds(count, arguments, 1, 10'000);
    training(runs), counting(runs), repeating(runs / 10);
    return end();
}
