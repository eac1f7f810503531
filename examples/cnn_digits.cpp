// SPDX-License-Identifier: BSD-3-Clause
// A convolutional network that reads handwriting, built of layers. Arguments: MNIST's files of images and labels, if they are there.
#include "digits28.hpp"

#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    const digit_images all = read_digits(argc, argv);
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto split = order.begin() + static_cast<std::ptrdiff_t>(order.size() * 8 / 10);
    const digit_images train_set = all.taken({order.begin(), split}), test_set = all.taken({split, order.end()});

    default_graph().set_seed(1);
    placeholder<float, dyn, 28, 28, 1> image("image");
    placeholder<int, dyn> label("label");
    placeholder<bool> training("training");
    const auto net = sequential(conv<16, window{.size = {5, 5}, .padding = padding::same}>(activation::relu),
                                max_pooling<window{.size = {2, 2}}>(),
                                conv<32, window{.size = {5, 5}, .padding = padding::same}>(activation::relu),
                                max_pooling<window{.size = {2, 2}}>(), flatten(), dense<128>(activation::relu),
                                dropout(0.4f, training), dense<10>());
    const auto logits = net("net", image);
    const auto loss = losses::sparse_softmax_cross_entropy(label, logits);
    const auto train = adam(1e-3f).minimize(loss);
    const auto [accuracy, count_batch] = metrics::accuracy(label, argmax<1>(logits));

    session s;
    s.run(global_variables_initializer());
    s.run(local_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), image, label, training);
    batches from(train_set, 32);
    constexpr int steps = 600, report = 100;
    float sum = 0;
    for (int i = 1; i <= steps; ++i) {
        const auto batch = from.next();
        const auto [l] = step(batch.images, batch.labels, true);
        sum += l;
        if (i % report == 0) {
            std::printf("step %d: loss %.4f\n", i, static_cast<double>(sum / report));
            sum = 0;
        }
    }
    for (std::size_t at = 0; at < test_set.size(); at += 64) { // the metric adds up over batches
        std::vector<std::size_t> which(std::min<std::size_t>(64, test_set.size() - at));
        std::iota(which.begin(), which.end(), at);
        const auto batch = test_set.taken(which);
        s.run(count_batch, feed(image, batch.images), feed(label, batch.labels), feed(training, false));
    }
    const float right = s.run(accuracy);
    std::printf("test accuracy %.4f of %zu images\n", static_cast<double>(right), test_set.size());
    expect(right >= 0.98f, "test accuracy of 0.98 or better");
}
