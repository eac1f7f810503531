// SPDX-License-Identifier: BSD-3-Clause
// Datasets: transformations, the kinds of iterators, training from one, and going on from a checkpoint with exactly the elements that were left.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

void kinds_of_iterators() {
    const graph_scope here{graph()};
    const xt::xtensor<int, 2> rows{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
    const auto row = dataset::from_tensor_slices(rows).make_one_shot_iterator().get_next();
    const auto any = make_iterator<std::int64_t>();
    const auto train = any.make_initializer(dataset::range(3)), test = any.make_initializer(dataset::range(100, 102));
    const auto number = any.get_next();
    const session s;
    int sum = 0;
    try {
        for (;;) sum += s.run(row)(1);
    } catch (const out_of_range& end) {
        std::printf("one-shot: the sum is %d; then: %s\n", sum, end.what());
    }
    expect(sum == 1 + 3 + 5 + 7, "each row once");
    std::vector<std::int64_t> seen;
    for (const auto& begin : {train, test}) {
        s.run(begin);
        try {
            for (;;) seen.push_back(s.run(number));
        } catch (const out_of_range&) {}
    }
    expect(seen == std::vector<std::int64_t>{0, 1, 2, 100, 101}, "one iterator, two datasets");
}

void training() {
    const graph_scope here{graph()};
    const auto data = dataset::range(100)
                          .map([](std::int64_t i) { return static_cast<float>(i) / 50 - 1; })
                          .map([](auto x) { return std::tuple(x, 3.f * x + 1.f); }) // a function of tensors
                          .shuffle(100, 7)
                          .repeat()
                          .batch<20>()
                          .prefetch(2);
    const auto [x, y] = data.make_one_shot_iterator().get_next();
    const variable<float> w("w", 0.f), b("b", 0.f);
    const auto loss = reduce_mean(square(w * x + b - y));
    const auto train = gradient_descent(0.3f).minimize(loss);
    const session s;
    s.run(global_variables_initializer());
    for (int step = 0; step < 200; ++step) s.run(train);
    std::printf("trained: y = %.3f x + %.3f\n", static_cast<double>(s.run(w)), static_cast<double>(s.run(b)));
    expect(std::abs(s.run(w) - 3) < 0.01f && std::abs(s.run(b) - 1) < 0.01f, "the line is found");
}

/// Data in a variable: fed once, when its initializer runs. It is neither in the graph, nor trained, nor saved.
void preloaded() {
    const graph_scope here{graph()};
    const placeholder<float, 6, 2> given("given");
    const variable<float, 6, 2> points("points", given, {.trainable = false, .local = true});
    const auto next = dataset::from_tensor_slices(points).repeat(2).make_initializable_iterator();
    const auto point = next.get_next();
    const session s;
    const xt::xtensor<float, 2> values{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}};
    s.run(points.initializer(), feed(given, values));
    s.run(next.initializer());
    float sum = 0;
    int count = 0;
    try {
        for (;; ++count) sum += s.run(point)(1);
    } catch (const out_of_range&) {}
    std::printf("preloaded: %d points, the sum is %.0f\n", count, static_cast<double>(sum));
    expect(count == 12 && sum == 72, "each point twice");
    expect(trainable_variables().empty(), "an optimizer does not change them");
    const std::string path = (std::filesystem::temp_directory_path() / "rill-preloaded.ckpt").string();
    save(s, path);
    expect(!checkpoint_reader(path).has("points"), "no checkpoint has them");
    std::filesystem::remove(path);
}

void going_on() {
    const graph_scope here{graph()};
    const auto next =
        dataset::range(1000).shuffle(100, 3).repeat().batch<4>().prefetch(3).make_one_shot_iterator().get_next();
    const std::string folder = (std::filesystem::temp_directory_path() / "rill-dataset-iterator").string();
    std::filesystem::create_directories(folder);
    const session s, resumed;
    for (int i = 0; i < 10; ++i) s.run(next);
    saver keep;
    keep.restore(resumed, keep.save(s, folder + "/model", 10));
    for (int i = 0; i < 20; ++i) {
        const auto one = s.run(next), other = resumed.run(next);
        expect(std::equal(one.begin(), one.end(), other.begin(), other.end()),
               "the resumed session reads what the first one reads");
    }
    std::filesystem::remove_all(folder);
}

} // namespace

int main() {
    kinds_of_iterators();
    preloaded();
    training();
    going_on();
    const auto count = std::make_shared<std::atomic<std::int64_t>>(0);
    const auto words = dataset::generator(std::vector<std::string>{"1", "two", "3"});
    int sum = 0;
    for (const int x :
         words.map([](const std::string& t) { return t == "two" ? throw invalid_argument(t) : std::stoi(t); })
             .ignore_errors(count))
        sum += x;
    expect(sum == 4 && *count == 1, "what can't be read is left out, and counted");
}
