// SPDX-License-Identifier: BSD-3-Clause
// Handwriting read row by row: a picture is a sequence of 28 rows of 28 pixels. Arguments: lstm, gru or rnn; then MNIST's files of images and labels,
// if they are there.
#include "digits28.hpp"

#include "expect.hpp"

using namespace rill;

namespace {

/// Trains a cell and returns the share of test images that it reads.
template <class Cell> double learn(const Cell& cell, const digit_images& train_set, const digit_images& test_set) {
    placeholder<float, dyn, 28, 28, 1> image("image");
    placeholder<int, dyn> label("label");
    const auto [outputs, state] = dynamic_rnn(cell, reshape<dyn, 28, 28>(image));
    const tensor logits = dense<10>("logits", outputs(all, -1)); // the output of the last row
    const auto loss = losses::sparse_softmax_cross_entropy(label, logits);
    const auto train = adam(2e-3f).minimize(loss);
    const auto answers = argmax<1>(logits);

    session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), image, label);
    batches from(train_set, 64);
    float sum = 0;
    for (int i = 1; i <= 400; ++i) {
        const auto batch = from.next();
        const auto [l] = step(batch.images, batch.labels);
        sum += l;
        if (i % 100 == 0) {
            std::printf("step %d: loss %.4f\n", i, static_cast<double>(sum) / 100);
            sum = 0;
        }
    }
    const auto read = s.run(answers, feed(image, test_set.images));
    std::size_t right = 0;
    for (std::size_t i = 0; i < test_set.size(); ++i) right += read(i) == test_set.labels[i];
    return static_cast<double>(right) / static_cast<double>(test_set.size());
}

} // namespace

int main(int argc, char** argv) {
    const std::string kind = argc > 1 ? argv[1] : "lstm";
    expect(kind == "lstm" || kind == "gru" || kind == "rnn", "the cell is lstm, gru or rnn");
    const digit_images digits = argc > 3 ? read_digits(argc - 1, argv + 1) : read_digits(1, argv);
    std::vector<std::size_t> order(digits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto split = order.begin() + static_cast<std::ptrdiff_t>(order.size() * 8 / 10);
    const digit_images train_set = digits.taken({order.begin(), split}), test_set = digits.taken({split, order.end()});

    default_graph().set_seed(1);
    const double right = kind == "rnn"   ? learn(rnn_cell<28, 128>("rnn"), train_set, test_set)
                         : kind == "gru" ? learn(gru_cell<28, 128>("gru"), train_set, test_set)
                                         : learn(lstm_cell<28, 128>("lstm"), train_set, test_set);
    std::printf("%s: %.4f of %zu test images are read right\n", kind.c_str(), right, test_set.size());
    expect(right >= 0.93, "a test accuracy of 0.93 or better");
}
