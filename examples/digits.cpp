// SPDX-License-Identifier: BSD-3-Clause
// Real handwriting: a 64-128-10 classifier trained with Adam on 1,797 scanned digits (UCI, see data/README.md).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

struct samples {
    xt::xtensor<float, 2> images; // [n, 64], 0 to 1
    std::vector<int> labels;

    std::size_t size() const { return labels.size(); }
};

samples take(const xt::xtensor<float, 2>& rows, const std::vector<std::size_t>& order, std::size_t begin,
             std::size_t end) {
    samples s{xt::xtensor<float, 2>({end - begin, 64}), {}};
    for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t p = 0; p < 64; ++p) s.images(i - begin, p) = rows(order[i], p) / 16.f;
        s.labels.push_back(static_cast<int>(rows(order[i], 64)));
    }
    return s;
}

void progress(int epoch, int epochs, float loss, double steps_per_second) {
    const int filled = 30 * epoch / epochs;
    std::printf("\r  epoch %2d/%d  [%s%s]  loss %.4f  %.0f steps/s ", epoch, epochs,
                std::string(static_cast<std::size_t>(filled), '#').c_str(),
                std::string(static_cast<std::size_t>(30 - filled), '.').c_str(), static_cast<double>(loss),
                steps_per_second);
    std::fflush(stdout);
}

/// Images side by side, each with its prediction below; a wrong one is marked.
void draw(const samples& s, const std::vector<std::size_t>& which, const xt::xtensor<int, 1>& predicted) {
    const std::string shades = " .:-=+*#%@";
    for (std::size_t row = 0; row < 8; ++row) {
        for (const std::size_t i : which) {
            std::printf("  ");
            for (std::size_t column = 0; column < 8; ++column) {
                const char ink = shades[static_cast<std::size_t>(s.images(i, row * 8 + column) * 9.f)];
                std::printf("%c%c", ink, ink);
            }
        }
        std::printf("\n");
    }
    for (const std::size_t i : which)
        std::printf("   read as %d%-8s", predicted(i), predicted(i) == s.labels[i] ? "" : " (no!)");
    std::printf("\n\n");
}

} // namespace

int main(int argc, char** argv) {
#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif
    const std::string path = argc > 1 ? argv[1] : RILL_EXAMPLE_DATA "/digits.csv";
    const auto table = read_csv<float>(path);
    std::vector<std::size_t> order(table.values.shape(0));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(42));
    const std::size_t split = order.size() * 8 / 10;
    const samples train_set = take(table.values, order, 0, split),
                  test_set = take(table.values, order, split, order.size());

    default_graph().set_seed(1);
    placeholder<float, dyn, 64> image("image");
    placeholder<int, dyn> label("label");
    auto hidden = relu(dense<64, 128>("hidden", image));
    auto logits = dense<128, 10>("logits", hidden);
    auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
    auto predicted = argmax<1>(logits);
    auto accuracy = reduce_mean(cast<float>(equal(predicted, label)));
    auto train = adam({.learning_rate = 2e-3f}).minimize(loss);

    session s;
    s.run(global_variables_initializer());
    auto step = s.make_callable(std::tuple(loss, train), image, label);

    constexpr int epochs = 40;
    constexpr std::size_t batch = 32;
    std::printf("%zu images to learn from, %zu to test on\n", train_set.size(), test_set.size());
    std::vector<std::size_t> deck(train_set.size());
    std::iota(deck.begin(), deck.end(), std::size_t{0});
    std::mt19937 shuffler(7);
    xt::xtensor<float, 2> images({batch, 64});
    std::vector<int> labels(batch);
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    int steps = 0;
    for (int epoch = 1; epoch <= epochs; ++epoch) {
        std::shuffle(deck.begin(), deck.end(), shuffler);
        float sum = 0;
        int batches = 0;
        for (std::size_t at = 0; at + batch <= deck.size(); at += batch, ++batches, ++steps) {
            for (std::size_t i = 0; i < batch; ++i) {
                std::copy_n(&train_set.images(deck[at + i], 0), 64, &images(i, 0));
                labels[i] = train_set.labels[deck[at + i]];
            }
            const auto [l] = step(images, labels);
            sum += l;
        }
        progress(epoch, epochs, sum / static_cast<float>(batches), steps / seconds());
    }
    std::printf("\n  trained in %.2f s\n\n", seconds());

    const auto [right, classes] =
        s.run(std::tuple(accuracy, predicted), feed(image, test_set.images), feed(label, test_set.labels));
    std::printf("test accuracy %.4f\n\nconfusion (rows: truth, columns: read as)\n     ", static_cast<double>(right));
    int confusion[10][10] = {};
    for (std::size_t i = 0; i < test_set.size(); ++i) ++confusion[test_set.labels[i]][classes(i)];
    for (int c = 0; c < 10; ++c) std::printf("%4d", c);
    for (int r = 0; r < 10; ++r) {
        std::printf("\n  %2d ", r);
        for (int c = 0; c < 10; ++c) confusion[r][c] ? std::printf("%4d", confusion[r][c]) : std::printf("   .");
    }
    std::printf("\n\n");

    std::vector<std::size_t> shown{0, 1, 2};
    for (std::size_t i = 0; i < test_set.size() && shown.size() < 4; ++i)
        if (classes(i) != test_set.labels[i]) shown.push_back(i);
    draw(test_set, shown, classes);
    expect(right >= 0.96f, "test accuracy of 0.96 or better");
}
