// SPDX-License-Identifier: BSD-3-Clause
// An autoencoder squeezes pictures of 784 pixels through 32 numbers and draws them again.
#include "digits28.hpp"

#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    const digit_images all = read_digits(argc, argv);
    default_graph().set_seed(1);
    placeholder<float, dyn, 28, 28, 1> image("image");
    const auto encoder = sequential(flatten(), dense<128>(activation::sigmoid), dense<32>(activation::sigmoid));
    const auto decoder = sequential(dense<128>(activation::sigmoid), dense<784>(activation::sigmoid));
    const auto code = encoder("encoder", image);
    const auto drawn = decoder("decoder", code);
    const auto loss = losses::mean_squared_error(flatten(image), drawn);
    const auto train = rmsprop(0.005f).minimize(loss);

    session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), image);
    batches from(all, 128);
    float first = 0, last = 0;
    for (int i = 1; i <= 1500; ++i) {
        const auto [l] = step(from.next().images);
        if (i == 1) first = l;
        last = i == 1 ? l : 0.98f * last + 0.02f * l;
        if (i % 300 == 0) std::printf("step %d: loss %.4f\n", i, static_cast<double>(last));
    }
    const auto shown = all.taken({0, 1, 2, 3});
    std::printf("\ngiven\n");
    draw_digits(shown.images, 4);
    std::printf("drawn again from 32 numbers each\n");
    draw_digits(s.run(drawn, feed(image, shown.images)), 4);
    expect(last < first / 4, "the error falls to a quarter");
}
