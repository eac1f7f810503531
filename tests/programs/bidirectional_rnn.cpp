// SPDX-License-Identifier: BSD-3-Clause
// Digits read row by row from both ends.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_bidirectional_rnn {

TEST_CASE("programs: bidirectional_rnn") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int training_steps = steps(60, 10000);
    const std::size_t batch_size = 128;

    placeholder<float, dyn, 28, 28> images("X"); // [batch, timesteps, num_input]
    placeholder<float, dyn, 10> labels("Y");
    const variable<float, 2 * 128, 10> weights("out_w", random_normal());
    const variable<float, 10> biases("out_b", random_normal());

    const auto both_ways = [&](const auto& x) {
        const lstm_cell<28, 128> fw_cell("fw", {.forget_bias = 1});
        const lstm_cell<28, 128> bw_cell("bw", {.forget_bias = 1});
        const auto [outputs, fw_state, bw_state] = static_bidirectional_rnn(fw_cell, bw_cell, unstack<1>(x));
        return tensor(matmul(outputs.back(), weights) + biases);
    };
    const auto logits = both_ways(images);
    const auto prediction = softmax(logits);
    const tensor loss_op = reduce_mean(softmax_cross_entropy(logits, labels));
    const auto train_op = gradient_descent(0.001f).minimize(loss_op);
    const auto correct_pred = equal(argmax<1>(prediction), argmax<1>(labels));
    const tensor accuracy = reduce_mean(cast<float>(correct_pred));

    session s;
    s.run(global_variables_initializer());
    const auto rows = [](const examples& of) {
        return xt::xtensor<float, 3>(xt::reshape_view(of.images, {of.size(), std::size_t{28}, std::size_t{28}}));
    };
    const auto test = data.test.first(128);
    const auto measure = [&] {
        return s.run(std::tuple(loss_op, accuracy), feed(images, rows(test)), feed(labels, test.labels));
    };
    const auto [first, guessed] = measure();
    for (int step = 1; step <= training_steps; ++step) {
        const auto batch = data.next_batch(batch_size);
        s.run(train_op, feed(images, rows(batch)), feed(labels, batch.labels));
    }
    const auto [last, reached] = measure();
    INFO("loss of the test " << first << " to " << last << ", accuracy " << guessed << " to " << reached);
    CHECK(last < 2.22f); // guesses cost ln 10 = 2.303 at least, and are right once in ten times
    CHECK(reached > 0.2f);
}

} // namespace test_programs_bidirectional_rnn
