// SPDX-License-Identifier: BSD-3-Clause
// A convolutional network from ops and variables alone, with dropout by a rate that is fed.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_convolutional_network_raw {

TEST_CASE("programs: convolutional_network_raw") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_steps = steps(30, 200);
    const std::size_t batch_size = 128;

    placeholder<float, dyn, 784> images("X");
    placeholder<float, dyn, 10> labels("Y");
    placeholder<float> keep_prob("keep_prob");
    const variable<float, 5, 5, 1, 32> wc1("wc1", random_normal());
    const variable<float, 5, 5, 32, 64> wc2("wc2", random_normal());
    const variable<float, 7 * 7 * 64, 1024> wd1("wd1", random_normal());
    const variable<float, 1024, 10> out_w("out_w", random_normal());
    const variable<float, 32> bc1("bc1", random_normal());
    const variable<float, 64> bc2("bc2", random_normal());
    const variable<float, 1024> bd1("bd1", random_normal());
    const variable<float, 10> out_b("out_b", random_normal());

    const auto convolved = [](const auto& x, const auto& w, const auto& b) {
        return tensor(relu(bias_add(conv2d<window{.padding = padding::same}>(x, w), b)));
    };
    const auto pooled = [](const auto& x) {
        return max_pool<window{.size = {2, 2}, .strides = {2, 2}, .padding = padding::same}>(x);
    };
    const auto conv_net = [&](const auto& x) {
        const auto conv1 = pooled(convolved(reshape<dyn, 28, 28, 1>(x), wc1, bc1));
        const auto conv2 = pooled(convolved(conv1, wc2, bc2));
        const tensor fc1 = relu(matmul(reshape<dyn, 7 * 7 * 64>(conv2), wd1) + bd1);
        return tensor(matmul(dropout(fc1, tensor(1.f - keep_prob)), out_w) + out_b);
    };
    const auto logits = conv_net(images);
    const auto prediction = softmax(logits);
    const tensor loss_op = reduce_mean(softmax_cross_entropy(logits, labels));
    const auto train_op = adam(0.001f).minimize(loss_op);
    const auto correct_pred = equal(argmax<1>(prediction), argmax<1>(labels));
    const tensor accuracy = reduce_mean(cast<float>(correct_pred));

    session s;
    s.run(global_variables_initializer());
    const auto measure = [&](const examples& of) {
        return s.run(std::tuple(loss_op, accuracy), feed(images, of.images), feed(labels, of.labels),
                     feed(keep_prob, 1.f));
    };
    float first = 0, last = 0;
    for (int step = 1; step <= num_steps; ++step) {
        const auto batch = data.next_batch(batch_size);
        s.run(train_op, feed(images, batch.images), feed(labels, batch.labels), feed(keep_prob, 0.8f));
        if (step == 1 || step == num_steps) {
            last = std::get<0>(measure(batch));
            if (step == 1) first = last;
        }
    }
    const auto [loss, reached] = measure(data.test.first(256));
    INFO("loss " << first << " to " << last << ", of the test " << loss << ", accuracy " << reached);
    CHECK(last < 0.5f * first);
    CHECK(reached > 0.5f); // one in ten by chance
}

} // namespace test_programs_convolutional_network_raw
