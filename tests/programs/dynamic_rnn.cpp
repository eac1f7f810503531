// SPDX-License-Identifier: BSD-3-Clause
// Sequences of different lengths: those that count upwards, and those of random numbers.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_dynamic_rnn {

constexpr index_t seq_max_len = 20, n_hidden = 64, n_classes = 2;

/// Sequences of 3 to 20 numbers: linear ones (class 0) and random ones (class 1), with zeros behind their ends.
class toy_sequence_data {
public:
    struct batch {
        xt::xtensor<float, 3> data;
        xt::xtensor<float, 2> labels;
        std::vector<int> seqlen;
    };

    toy_sequence_data(std::size_t n_samples, unsigned seed) : all_(make(n_samples)) {
        std::mt19937 random(seed);
        const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
        for (std::size_t i = 0; i < n_samples; ++i) {
            const int length = 3 + below(seq_max_len - 2), max_value = 1000;
            const bool is_linear = below(2) == 0;
            const int start = below(max_value - length + 1);
            for (int t = 0; t < length; ++t)
                all_.data(i, static_cast<std::size_t>(t), 0) =
                    static_cast<float>(is_linear ? start + t : below(max_value + 1)) / static_cast<float>(max_value);
            all_.labels(i, is_linear ? 0 : 1) = 1;
            all_.seqlen[i] = length;
        }
    }

    const batch& all() const { return all_; }
    /// Returns the next samples; after the last one it starts over.
    batch next(std::size_t batch_size) {
        if (batch_id_ == all_.seqlen.size()) batch_id_ = 0;
        const std::size_t end = std::min(batch_id_ + batch_size, all_.seqlen.size());
        batch some = make(end - batch_id_);
        for (std::size_t i = 0; batch_id_ < end; ++i, ++batch_id_) {
            std::copy_n(&all_.data(batch_id_, 0, 0), seq_max_len, &some.data(i, 0, 0));
            std::copy_n(&all_.labels(batch_id_, 0), n_classes, &some.labels(i, 0));
            some.seqlen[i] = all_.seqlen[batch_id_];
        }
        return some;
    }

private:
    static batch make(std::size_t count) {
        return {xt::zeros<float>({count, std::size_t{seq_max_len}, std::size_t{1}}),
                xt::zeros<float>({count, std::size_t{n_classes}}), std::vector<int>(count)};
    }

    batch all_;
    std::size_t batch_id_ = 0;
};

TEST_CASE("programs: dynamic_rnn") {
    toy_sequence_data trainset(1000, 1);
    const toy_sequence_data testset(500, 2);
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
#ifdef RILL_SANITIZED // many times as slow
    const int training_steps = steps(20, 10000);
#else
    const int training_steps = steps(1800, 10000); // so many until the cost leaves that of guesses behind
#endif

    placeholder<float, dyn, seq_max_len, 1> x("x");
    placeholder<float, dyn, n_classes> y("y");
    placeholder<int, dyn> seqlen("seqlen");
    const variable<float, n_hidden, n_classes> weights("out_w", random_normal());
    const variable<float, n_classes> biases("out_b", random_normal());

    const auto dynamic = [&](const auto& sequences) {
        const lstm_cell<1, n_hidden> cell("basic_lstm_cell");
        const auto [outputs, states] = static_rnn(cell, unstack<1>(sequences), {.lengths = seqlen});
        const auto batch_major = transpose(stack(outputs), {1, 0, 2});
        const auto index = range(shape(sequences)(0)) * static_cast<int>(seq_max_len) + (seqlen - 1);
        const auto last = gather(reshape<dyn, n_hidden>(batch_major), index);
        return tensor(matmul(last, weights) + biases);
    };
    const auto pred = dynamic(x);
    const tensor cost = reduce_mean(softmax_cross_entropy(pred, y));
    const auto optimizer = gradient_descent(0.01f).minimize(cost);
    const auto correct_pred = equal(argmax<1>(pred), argmax<1>(y));
    const tensor accuracy = reduce_mean(cast<float>(correct_pred));

    session s;
    s.run(global_variables_initializer());
    const auto measure = [&] {
        const auto& test = testset.all();
        return s.run(std::tuple(cost, accuracy), feed(x, test.data), feed(y, test.labels), feed(seqlen, test.seqlen));
    };
    const auto [first, guessed] = measure();
    for (int step = 1; step <= training_steps; ++step) {
        const auto batch = trainset.next(128);
        s.run(optimizer, feed(x, batch.data), feed(y, batch.labels), feed(seqlen, batch.seqlen));
    }
    const auto [last, reached] = measure();
    INFO("cost of the test " << first << " to " << last << ", accuracy " << guessed << " to " << reached);
    CHECK(last < 0.9f * first);
    if (training_steps < 1000) return;
    CHECK(last < 0.65f); // guesses cost ln 2 = 0.693 at least, and are right half of the time
    CHECK(reached > 0.6f);
}

} // namespace test_programs_dynamic_rnn
