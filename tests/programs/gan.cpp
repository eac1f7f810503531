// SPDX-License-Identifier: BSD-3-Clause
// Two networks of two layers against each other: one draws digits, one judges them.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_gan {

auto glorot_init(double inputs) { return random_normal({.stddev = 1 / std::sqrt(inputs / 2)}); }

TEST_CASE("programs: gan") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_steps = steps(300, 100000);
    const std::size_t batch_size = 128, noise_dim = 100;
    const float learning_rate = 0.0002f;

    const variable<float, 100, 256> gen_hidden1_w("gen_hidden1_w", glorot_init(100));
    const variable<float, 256, 784> gen_out_w("gen_out_w", glorot_init(256));
    const variable<float, 784, 256> disc_hidden1_w("disc_hidden1_w", glorot_init(784));
    const variable<float, 256, 1> disc_out_w("disc_out_w", glorot_init(256));
    const variable<float, 256> gen_hidden1_b("gen_hidden1_b", zeros()), disc_hidden1_b("disc_hidden1_b", zeros());
    const variable<float, 784> gen_out_b("gen_out_b", zeros());
    const variable<float, 1> disc_out_b("disc_out_b", zeros());

    const auto generator = [&](const auto& x) {
        const tensor hidden_layer = relu(matmul(x, gen_hidden1_w) + gen_hidden1_b);
        return tensor(sigmoid(matmul(hidden_layer, gen_out_w) + gen_out_b));
    };
    const auto discriminator = [&](const auto& x) {
        const tensor hidden_layer = relu(matmul(x, disc_hidden1_w) + disc_hidden1_b);
        return tensor(sigmoid(matmul(hidden_layer, disc_out_w) + disc_out_b));
    };
    placeholder<float, dyn, 100> gen_input("input_noise");
    placeholder<float, dyn, 784> disc_input("disc_input");
    const auto gen_sample = generator(gen_input);
    const auto disc_real = discriminator(disc_input);
    const auto disc_fake = discriminator(gen_sample);

    const tensor gen_loss = -reduce_mean(log(disc_fake));
    const tensor disc_loss = -reduce_mean(log(disc_real) + log(1.f - disc_fake));
    const std::vector<any_tensor> gen_vars{gen_hidden1_w, gen_out_w, gen_hidden1_b, gen_out_b};
    const std::vector<any_tensor> disc_vars{disc_hidden1_w, disc_out_w, disc_hidden1_b, disc_out_b};
    const auto train_gen = adam(learning_rate).minimize(gen_loss, {.variables = gen_vars});
    const auto train_disc = adam(learning_rate).minimize(disc_loss, {.variables = disc_vars});

    session s;
    s.run(global_variables_initializer());
    std::mt19937 random(3);
    const auto mean_ink = [](const auto& pictures) { return static_cast<float>(xt::mean(pictures)()); };
    const auto draw = [&] { return s.run(gen_sample, feed(gen_input, noise(40, noise_dim, random))); };
    const float before = mean_ink(draw()), wanted = mean_ink(data.train.images);
    float first = 0, last = 0, gl = 0, dl = 0;
    for (int i = 1; i <= num_steps; ++i) {
        const auto batch = data.next_batch(batch_size);
        std::tie(gl, dl) = s.run(std::tuple(gen_loss, disc_loss, train_gen, train_disc), feed(disc_input, batch.images),
                                 feed(gen_input, noise(batch_size, noise_dim, random)));
        if (i == 1) first = dl;
        last = dl;
    }
    const auto pictures = draw();
    INFO("discriminator " << first << " to " << last << ", generator " << gl << ", ink " << before << " to "
                          << mean_ink(pictures) << ", of digits " << wanted);
    CHECK(last < 0.5f * first);
    CHECK(std::isfinite(gl));
    CHECK(std::abs(mean_ink(pictures) - wanted) < 0.5f * std::abs(before - wanted));
}

} // namespace test_programs_gan
