// SPDX-License-Identifier: BSD-3-Clause
// An encoder and a decoder with attention learn to spell words backwards. The decoder is trained on the right letters, and afterwards reads its own:
// greedy decoding in a while loop.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr int letters = 10, end = letters, start = letters + 1;
constexpr index_t symbols = letters + 2, longest = 6, width = 16, units = 64;
constexpr std::size_t batch = 64;

struct words {
    xt::xtensor<int, 2> read; // the letters of each word
    xt::xtensor<int, 2> given,
        asked; // the decoder's inputs and targets: the word backwards, behind a start and before an end
    std::vector<int> lengths;
};

words draw(std::mt19937& random) {
    words w{xt::xtensor<int, 2>({batch, longest}, end),
            xt::xtensor<int, 2>({batch, longest + 1}, start),
            xt::xtensor<int, 2>({batch, longest + 1}, end),
            {}};
    for (std::size_t b = 0; b < batch; ++b) {
        const int n = std::uniform_int_distribution<int>(3, longest)(random);
        w.lengths.push_back(n);
        for (int i = 0; i < n; ++i) {
            const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(n - 1 - i);
            w.read(b, from) = w.asked(b, to) = w.given(b, to + 1) =
                std::uniform_int_distribution<int>(0, letters - 1)(random);
        }
    }
    return w;
}

/// Row b up to the end, as text.
std::string spelled(const xt::xtensor<int, 2>& rows, std::size_t b) {
    std::string word;
    for (std::size_t i = 0; i < rows.shape(1) && rows(b, i) != end; ++i) word += static_cast<char>('a' + rows(b, i));
    return word;
}

} // namespace

int main() {
    default_graph().set_seed(3);
    placeholder<int, dyn, longest> read("read");
    placeholder<int, dyn, longest + 1> given("given"), asked("asked");
    placeholder<int, dyn> lengths("lengths");
    const variable<float, symbols, width> table("letters", random_uniform({.minval = -1.f, .maxval = 1.f}));

    const gru_cell<width, units> encoder("encoder");
    const auto [states, last] = dynamic_rnn(encoder, embedding_lookup(table, read), {.lengths = lengths});
    const auto attention = luong_attention<units>("attention", states, {.lengths = lengths});
    const auto decoder = attention_cell<units>("decoder", gru_cell<width + units, units>("decoder"), attention);
    const auto [outputs, decoded] = dynamic_rnn(decoder, embedding_lookup(table, given), decoder.state_of(last));
    const variable<float, units, symbols> project("project", glorot_uniform());
    // a target counts up to the end of the word, and so does that end
    const auto weights = cast<float>(sequence_mask<longest + 1>(lengths + 1));
    const auto loss = sequence_loss(matmul(outputs, project), asked, weights);
    const auto train = adam(5e-3f).minimize(loss);

    // greedy decoding: the most probable letter is the next input
    const auto [h, attended] = decoder.state_of(last);
    const tensor<int, dyn> first = cast<int>(lengths * 0 + start);
    const tensor<int, dyn, dyn> none = cast<int>(tensor<int, dyn, dyn>(any_tensor(given)) * 0 + end);
    const auto found =
        while_loop([](const auto& t, const auto&...) { return t < static_cast<int>(longest) + 1; },
                   [&](const auto& t, const auto& symbol, const auto& state, const auto& context, const auto& written) {
                       const auto [y, next] = decoder(embedding_lookup(table, symbol), std::tuple(state, context));
                       const tensor<int, dyn> best = argmax<1>(matmul(y, project));
                       const auto here = equal(range(static_cast<int>(longest) + 1), t);
                       return std::tuple(t + 1, best, std::get<0>(next), std::get<1>(next),
                                         tensor<int, dyn, dyn>(select(here, expand_dims<1>(best), written)));
                   },
                   0, first, h, attended, none);
    const auto answers = std::get<4>(found);

    session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), read, lengths, given, asked);
    std::mt19937 random(5);
    for (int i = 0; i <= 350; ++i) {
        const words w = draw(random);
        const auto [l] = step(w.read, w.lengths, w.given, w.asked);
        if (i % 50 == 0) std::printf("step %3d: loss %.4f\n", i, static_cast<double>(l));
    }

    int right = 0;
    for (int k = 0; k < 4; ++k) {
        const words w = draw(random);
        const auto spelt = s.run(answers, feed(read, w.read), feed(lengths, w.lengths), feed(given, w.given));
        for (std::size_t b = 0; b < batch; ++b) right += spelled(spelt, b) == spelled(w.asked, b);
        if (k == 0)
            for (std::size_t b = 0; b < 3; ++b)
                std::printf("%-8s backwards: %s\n", spelled(w.read, b).c_str(), spelled(spelt, b).c_str());
    }
    const double share = right / (4. * batch);
    std::printf("%.3f of 256 new words are spelled backwards\n", share);
    expect(share >= 0.95, "95 of 100 words are right, each letter of them");
}
