// SPDX-License-Identifier: BSD-3-Clause
// A variational autoencoder: each picture becomes a small cloud in a plane, and points of the plane become pictures.
#include "digits28.hpp"

#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    const digit_images all = read_digits(argc, argv);
    default_graph().set_seed(1);
    placeholder<float, dyn, 28, 28, 1> image("image");
    const auto pixels = flatten(image);
    const auto hidden = dense<256>(activation::tanh)("encoder", pixels);
    const auto mean = dense<2>()("mean", hidden),
               spread = dense<2>()("spread", hidden); // the logarithm of the variance
    const tensor point = mean + exp(0.5f * spread) * random_normal<float>(shape(mean));
    const auto decoder = sequential(dense<256>(activation::tanh), dense<784>());
    const auto logits = decoder("decoder", point);

    const auto drawing = reduce_sum<1>(sigmoid_cross_entropy(logits, pixels));
    const auto divergence = -0.5f * reduce_sum<1>(1.f + spread - square(mean) - exp(spread));
    const auto loss = reduce_mean(drawing + divergence);
    const auto train = adam(2e-3f).minimize(loss);

    session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(loss, train), image);
    batches from(all, 64);
    float first = 0, last = 0;
    for (int i = 1; i <= 1500; ++i) {
        const auto [l] = step(from.next().images);
        if (i == 1) first = l;
        last = i == 1 ? l : 0.98f * last + 0.02f * l;
        if (i % 300 == 0) std::printf("step %d: loss %.2f\n", i, static_cast<double>(last));
    }
    // pictures of points from left to right through the plane
    const xt::xtensor<float, 2> points{{-1.5f, 0.f}, {-0.5f, 0.f}, {0.5f, 0.f}, {1.5f, 0.f}};
    draw_digits(s.run(tensor(sigmoid(logits)), feed(point, points)), 4);
    expect(last < first / 2, "the loss falls to half");
}
