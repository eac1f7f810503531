// SPDX-License-Identifier: BSD-3-Clause
// Two convolutional networks against each other, by layers that are shared through variable scopes.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_dcgan {

template <class Z> auto generator(const Z& noise_input) {
    const variable_scope scope("Generator", {.reuse = reuse::automatic});
    const auto x = reshape<dyn, 6, 6, 128>(dense<6 * 6 * 128>(activation::tanh)(noise_input));
    const auto y = conv_transpose<64, window{.size = {4, 4}, .strides = {2, 2}}>()(x);
    return conv_transpose<1, window{.size = {2, 2}, .strides = {2, 2}}>(activation::sigmoid)(y);
}

template <class X> auto discriminator(const X& image) {
    const variable_scope scope("Discriminator", {.reuse = reuse::automatic});
    constexpr window two{.size = {2, 2}, .strides = {2, 2}};
    const auto x = average_pooling<two>()(conv<64, window{.size = {5, 5}}>(activation::tanh)(image));
    const auto y = average_pooling<two>()(conv<128, window{.size = {5, 5}}>(activation::tanh)(x));
    return dense<2>()(dense<1024>(activation::tanh)(flatten(y)));
}

TEST_CASE("programs: dcgan") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_steps = steps(25, 20000);
    const std::size_t batch_size = 32, noise_dim = 200;

    placeholder<float, dyn, 200> noise_input("noise_input");
    placeholder<float, dyn, 28, 28, 1> real_image_input("real_image_input");
    const auto gen_sample = generator(noise_input);
    static_assert(std::is_same_v<std::remove_const_t<decltype(gen_sample)>, tensor<float, dyn, 28, 28, 1>>);
    const auto disc_real = discriminator(real_image_input);
    const auto disc_fake = discriminator(gen_sample);
    const auto disc_concat = concat<0>(disc_real, disc_fake);
    const auto stacked_gan = discriminator(gen_sample);
    placeholder<int, dyn> disc_target("disc_target"), gen_target("gen_target");
    const tensor disc_loss = reduce_mean(sparse_softmax_cross_entropy(disc_concat, disc_target));
    const tensor gen_loss = reduce_mean(sparse_softmax_cross_entropy(stacked_gan, gen_target));
    const auto train_gen = adam(0.001f).minimize(gen_loss, {.variables = trainable_variables("Generator")});
    const auto train_disc = adam(0.001f).minimize(disc_loss, {.variables = trainable_variables("Discriminator")});
    CHECK(trainable_variables().size() == 6 + 8);

    session s;
    s.run(global_variables_initializer());
    std::mt19937 random(3);
    std::vector<int> batch_disc_y(2 * batch_size);
    std::fill_n(batch_disc_y.begin(), batch_size, 1);
    const std::vector<int> batch_gen_y(batch_size, 1);
    float first = 0, least_gen = 0, gl = 0, dl = 0;
    for (int i = 1; i <= num_steps; ++i) {
        const auto batch = data.next_batch(batch_size);
        const xt::xtensor<float, 4> real =
            xt::reshape_view(batch.images, {batch_size, std::size_t{28}, std::size_t{28}, std::size_t{1}});
        std::tie(gl, dl) = s.run(std::tuple(gen_loss, disc_loss, train_gen, train_disc), feed(real_image_input, real),
                                 feed(noise_input, noise(batch_size, noise_dim, random)),
                                 feed(disc_target, batch_disc_y), feed(gen_target, batch_gen_y));
        if (i == 1) first = dl;
        least_gen = i == 1 ? gl : std::min(least_gen, gl);
    }
    const auto pictures = s.run(gen_sample, feed(noise_input, noise(4, noise_dim, random)));
    INFO("discriminator " << first << " to " << dl << ", generator " << least_gen << ", " << gl);
    CHECK(dl < first);
    CHECK(std::isfinite(gl));
    CHECK(pictures.shape(0) == 4);
}

} // namespace test_programs_dcgan
