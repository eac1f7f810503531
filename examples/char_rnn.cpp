// SPDX-License-Identifier: BSD-3-Clause
// A network that writes: two LSTM layers learn the next letter of a text, and then draw letters one by one, each by what they drew before.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif

int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : RILL_EXAMPLE_DATA "/declaration.txt");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    constexpr index_t letters = 128, width = 32, units = 128, steps = 32;
    constexpr std::size_t batch = 32;
    expect(text.size() > steps + 1 && std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; }),
           "a text in ASCII");

    default_graph().set_seed(2);
    placeholder<int, dyn, steps> read("read"), next("next");
    const variable<float, letters, width> table("letters", random_uniform({.minval = -0.5f, .maxval = 0.5f}));
    const stacked_cells cell(lstm_cell<width, units>("layer0"), lstm_cell<units, units>("layer1"));
    const variable<float, units, letters> project("project", glorot_uniform());
    const auto [outputs, last] = dynamic_rnn(cell, embedding_lookup(table, read));
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(matmul(outputs, project), next));
    const auto train = adam(4e-3f).minimize(loss);

    // a letter at a time: draws the next one by the logits, and goes on from there
    placeholder<int, 1> first("first");
    const auto drawn = scan(
        [&](const auto& state, const auto&) {
            const auto& [letter, inner] = state;
            const auto [y, following] = cell(embedding_lookup(table, letter), inner);
            const tensor<int, 1> chosen = cast<int>(reshape<1>(multinomial<1>(1.5f * matmul(y, project))));
            return std::tuple(std::tuple(chosen, following), chosen);
        },
        std::tuple(tensor<int, 1>(first), cell.zero_state<1>()), range(300));
    const auto written = std::get<1>(drawn);

    session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), read, next);
    std::mt19937 random(5);
    float mean = 0;
    for (int i = 1; i <= 400; ++i) {
        xt::xtensor<int, 2> here({batch, steps}), behind({batch, steps});
        for (std::size_t b = 0; b < batch; ++b) {
            const auto at = std::uniform_int_distribution<std::size_t>(0, text.size() - steps - 1)(random);
            for (std::size_t t = 0; t < steps; ++t) here(b, t) = text[at + t], behind(b, t) = text[at + t + 1];
        }
        const auto [l] = step(here, behind);
        mean = i == 1 ? l : 0.95f * mean + 0.05f * l;
        if (i % 100 == 0) std::printf("step %d: loss %.3f\n", i, static_cast<double>(mean));
    }
    const auto chars = s.run(written, feed(first, std::vector<int>{'T'}));
    std::string sample = "T";
    for (std::size_t i = 0; i < chars.shape(0); ++i) sample += static_cast<char>(chars(i, 0));
    std::printf("%s\n", sample.c_str());
    expect(mean < 2.f, "letters are guessed far better than by their frequencies, which is a loss of 2.9");
    expect(std::all_of(sample.begin(), sample.end(), [&](char c) { return text.find(c) != std::string::npos; }),
           "it writes letters of the text alone");
}
