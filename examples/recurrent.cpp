// SPDX-License-Identifier: BSD-3-Clause
// A recurrent network over `scan`: has a sequence of ups and downs more ups? It reads one step at a time and has to remember.
// Sequences are of different lengths and lie in one array, with noise behind their ends; there a sequence keeps its state.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr index_t batch = 64, units = 8;
constexpr int longest = 15;

struct sequences {
    xt::xtensor<float, 2> steps; // time by example: 1 or -1
    std::vector<int> lengths;
    std::vector<float> more_ups; // 1 or 0
};

sequences draw(std::mt19937& random) {
    std::bernoulli_distribution up(0.5);
    std::uniform_int_distribution<int> half(1, longest / 2);
    sequences all{xt::xtensor<float, 2>({longest, batch}), {}, {}};
    for (std::size_t e = 0; e < batch; ++e) {
        all.lengths.push_back(2 * half(random) + 1); // odd: there are more of one kind
        float sum = 0.f;
        for (int t = 0; t < longest; ++t) {
            const float x = all.steps(static_cast<std::size_t>(t), e) = up(random) ? 1.f : -1.f;
            sum += t < all.lengths[e] ? x : 0.f;
        }
        all.more_ups.push_back(sum > 0.f ? 1.f : 0.f);
    }
    return all;
}

/// The share of examples that the network is right about.
double share_right(const xt::xtensor<float, 1>& logits, const std::vector<float>& truth) {
    int right = 0;
    for (std::size_t e = 0; e < batch; ++e) right += (logits(e) > 0.f) == (truth[e] > 0.5f);
    return static_cast<double>(right) / static_cast<double>(batch);
}

} // namespace

int main() {
    current_graph().set_seed(11);
    placeholder<float, dyn, batch> in("in");
    placeholder<int, batch> lengths("lengths");
    placeholder<float, batch> more_ups("more_ups");
    variable<float, units> w("w", random_normal({.stddev = 0.5})), b("b", zeros());
    variable<float, units, units> u("u", orthogonal());

    // All states, one for each time: of the network, and how many steps there were.
    const auto [counts, states] = scan(
        [&](const auto& state, const auto& x) {
            const auto [count, h] = state;
            const auto next = tanh(expand_dims<1>(x) * w + matmul(h, u) + b);
            return std::tuple(count + 1, select(expand_dims<1>(count < lengths), next, h));
        },
        std::tuple(0, zeros<float, batch, units>()), in);
    const auto last = slice<1, batch, units>(reverse<0>(states), {0, 0, 0});
    const auto logits = reshape<batch>(dense<units, 1>("answer", reshape<batch, units>(last)));
    const auto loss = reduce_mean(sigmoid_cross_entropy(logits, more_ups));
    const auto train = adam(0.01f).minimize(loss);

    session s;
    s.run(global_variables_initializer());
    auto step = s.make_callable(std::tuple(loss, logits, train), in, lengths, more_ups);
    std::mt19937 random(5);
    for (int i = 0; i <= 600; ++i) {
        const auto seen = draw(random);
        const auto [l, answers] = step(seen.steps, seen.lengths, seen.more_ups);
        if (i % 100 == 0) std::printf("step %4d  loss %.4f  right %.3f\n", i, l, share_right(answers, seen.more_ups));
    }

    double right = 0;
    for (int k = 0; k < 10; ++k) {
        const auto fresh = draw(random);
        const auto answers = s.run(logits, feed(in, fresh.steps), feed(lengths, fresh.lengths));
        right += share_right(answers, fresh.more_ups) / 10;
    }
    std::printf("of 640 new sequences %.3f are answered right\n", right);
    expect(right > 0.95, "the network counts");

    // The same sequences in an array that ends where the longest of them does.
    auto some = draw(random);
    for (int& length : some.lengths) length = std::min(length, 7);
    xt::xtensor<float, 2> shorter({7, batch});
    std::copy_n(some.steps.begin(), shorter.size(), shorter.begin());
    const auto answers = s.run(logits, feed(in, some.steps), feed(lengths, some.lengths));
    expect(answers == s.run(logits, feed(in, shorter), feed(lengths, some.lengths)),
           "nothing behind a sequence's end counts");
}
