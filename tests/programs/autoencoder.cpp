// SPDX-License-Identifier: BSD-3-Clause
// Digits through 128 numbers and back.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_autoencoder {

TEST_CASE("programs: autoencoder") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_steps = steps(400, 30000);
    const std::size_t batch_size = 256;

    placeholder<float, dyn, 784> input("X");
    const variable<float, 784, 256> encoder_h1("encoder_h1", random_normal());
    const variable<float, 256, 128> encoder_h2("encoder_h2", random_normal());
    const variable<float, 128, 256> decoder_h1("decoder_h1", random_normal());
    const variable<float, 256, 784> decoder_h2("decoder_h2", random_normal());
    const variable<float, 256> encoder_b1("encoder_b1", random_normal()), decoder_b1("decoder_b1", random_normal());
    const variable<float, 128> encoder_b2("encoder_b2", random_normal());
    const variable<float, 784> decoder_b2("decoder_b2", random_normal());

    const auto encoder = [&](const auto& x) {
        const tensor layer_1 = sigmoid(matmul(x, encoder_h1) + encoder_b1);
        return tensor(sigmoid(matmul(layer_1, encoder_h2) + encoder_b2));
    };
    const auto decoder = [&](const auto& x) {
        const tensor layer_1 = sigmoid(matmul(x, decoder_h1) + decoder_b1);
        return tensor(sigmoid(matmul(layer_1, decoder_h2) + decoder_b2));
    };
    const auto y_pred = decoder(encoder(input));
    const tensor loss = reduce_mean(pow(input - y_pred, 2.f));
    const auto optimizer = rmsprop(0.01f).minimize(loss);

    session s;
    s.run(global_variables_initializer());
    float first = 0, last = 0;
    for (int i = 1; i <= num_steps; ++i) {
        const auto [l] = s.run(std::tuple(loss, optimizer), feed(input, data.next_batch(batch_size).images));
        if (i == 1) first = l;
        last = l;
    }
    const auto drawn = s.run(y_pred, feed(input, data.test.first(4).images));
    INFO("loss " << first << " to " << last);
    CHECK(last < 0.5f * first);
    CHECK(drawn.shape(1) == 784);
}

} // namespace test_programs_autoencoder
