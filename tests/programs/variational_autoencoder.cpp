// SPDX-License-Identifier: BSD-3-Clause
// Digits as points of a plane, drawn from a normal distribution each.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_variational_autoencoder {

auto glorot_init(double inputs) { return random_normal({.stddev = 1 / std::sqrt(inputs / 2)}); }

TEST_CASE("programs: variational_autoencoder") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_steps = steps(400, 30000);
    const std::size_t batch_size = 64;

    const variable<float, 784, 512> encoder_h1("encoder_h1", glorot_init(784));
    const variable<float, 512, 2> mean_w("z_mean", glorot_init(512)), std_w("z_std", glorot_init(512));
    const variable<float, 2, 512> decoder_h1("decoder_h1", glorot_init(2));
    const variable<float, 512, 784> decoder_out("decoder_out", glorot_init(512));
    const variable<float, 512> encoder_b1("encoder_b1", glorot_init(512)), decoder_b1("decoder_b1", glorot_init(512));
    const variable<float, 2> mean_b("z_mean_b", glorot_init(2)), std_b("z_std_b", glorot_init(2));
    const variable<float, 784> decoder_out_b("decoder_out_b", glorot_init(784));

    placeholder<float, dyn, 784> input_image("input_image");
    const tensor encoder = tanh(matmul(input_image, encoder_h1) + encoder_b1);
    const tensor z_mean = matmul(encoder, mean_w) + mean_b;
    const tensor z_std = matmul(encoder, std_w) + std_b;
    const auto eps = random_normal<float>(shape(z_std));
    const tensor z = z_mean + exp(z_std / 2.f) * eps;

    const auto decoder = [&](const auto& point) {
        const tensor hidden = tanh(matmul(point, decoder_h1) + decoder_b1);
        return tensor(sigmoid(matmul(hidden, decoder_out) + decoder_out_b));
    };
    const auto vae_loss = [&](const auto& x_reconstructed, const auto& x_true) {
        const auto encode_decode_loss =
            x_true * log(1e-10f + x_reconstructed) + (1.f - x_true) * log(1e-10f + 1.f - x_reconstructed);
        const auto kl_div_loss = 1.f + z_std - square(z_mean) - exp(z_std);
        return reduce_mean(-reduce_sum<1>(encode_decode_loss) - 0.5f * reduce_sum<1>(kl_div_loss));
    };
    const tensor loss_op = vae_loss(decoder(z), input_image);
    const auto train_op = rmsprop(0.001f).minimize(loss_op);

    session s;
    s.run(global_variables_initializer());
    float first = 0, last = 0;
    for (int i = 1; i <= num_steps; ++i) {
        const auto [l] = s.run(std::tuple(loss_op, train_op), feed(input_image, data.next_batch(batch_size).images));
        if (i == 1) first = l;
        last = l;
    }
    placeholder<float, dyn, 2> noise_input("noise_input"); // the decoder again, from points
    const auto x_mean = decoder(noise_input);
    const std::size_t n = 20;
    xt::xtensor<float, 2> points({n * n, 2});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            points(i * n + j, 0) = -3.f + 6.f * static_cast<float>(j) / 19.f;
            points(i * n + j, 1) = -3.f + 6.f * static_cast<float>(i) / 19.f;
        }
    const auto canvas = s.run(x_mean, feed(noise_input, points));
    INFO("loss " << first << " to " << last);
    CHECK(last < 0.5f * first);
    CHECK(xt::amax(canvas)() > 0.5f); // something is drawn, on paper
    CHECK(xt::amin(canvas)() < 0.1f);
}

} // namespace test_programs_variational_autoencoder
