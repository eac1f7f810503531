// SPDX-License-Identifier: BSD-3-Clause
// Two networks against each other (Radford et al. 2015): a generator draws digits from noise, a discriminator tells them from real ones.
#include "digits28.hpp"

#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    const digit_images all = read_digits(argc, argv);
    default_graph().set_seed(1);
    placeholder<float, dyn, 50> noise("noise");
    placeholder<float, dyn, 28, 28, 1> real("real");
    const auto generator = sequential(
        dense<6 * 6 * 32>(activation::tanh), [](const auto& x) { return reshape<dyn, 6, 6, 32>(x); },
        conv_transpose<16, window{.size = {4, 4}, .strides = {2, 2}}>(activation::tanh),
        conv_transpose<1, window{.size = {2, 2}, .strides = {2, 2}}>(activation::sigmoid));
    const auto discriminator =
        sequential(conv<16, window{.size = {5, 5}}>(activation::tanh), average_pooling<window{.size = {2, 2}}>(),
                   conv<32, window{.size = {5, 5}}>(activation::tanh), average_pooling<window{.size = {2, 2}}>(),
                   flatten(), dense<64>(activation::tanh), dense<2>());
    const auto judged = [&](const auto& x) {
        const variable_scope scope("judge", {.reuse = reuse::automatic}); // both calls share the variables
        return discriminator("discriminator", x);
    };
    const auto drawn = generator("generator", noise);
    const auto of_real = judged(real), of_drawn = judged(drawn);
    const auto loss_for = [](const auto& logits, int truth) {
        return reduce_mean(sparse_softmax_cross_entropy(logits, argmax<1>(logits) * 0 + truth));
    };
    const tensor judge_loss = loss_for(of_real, 1) + loss_for(of_drawn, 0);
    const tensor draw_loss = loss_for(of_drawn, 1);
    const auto train_judge = adam(5e-4f).minimize(judge_loss, {.variables = trainable_variables("judge")});
    const auto train_drawing = adam(1e-3f).minimize(draw_loss, {.variables = trainable_variables("generator")});

    session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(std::tuple(judge_loss, draw_loss, train_judge, train_drawing), real, noise);
    batches from(all, 32);
    std::mt19937 random(3);
    const auto draw_noise = [&](std::size_t n) {
        xt::xtensor<float, 2> z({n, 50});
        for (float& v : z) v = std::uniform_real_distribution<float>(-1, 1)(random);
        return z;
    };
    float first = 0, judge = 0, draw = 0, worst = 0;
    for (int i = 1; i <= 500; ++i) {
        const auto [a, b] = step(from.next().images, draw_noise(32));
        if (i == 1) first = a;
        judge = i == 1 ? a : 0.95f * judge + 0.05f * a;
        draw = i == 1 ? b : 0.95f * draw + 0.05f * b;
        worst = std::max(worst, draw);
        if (i % 100 == 0)
            std::printf("step %d: loss of the discriminator %.3f, of the generator %.3f\n", i,
                        static_cast<double>(judge), static_cast<double>(draw));
    }
    const auto pictures = s.run(drawn, feed(noise, draw_noise(4)));
    draw_digits(pictures, 4);
    const auto ink = [](const auto& x) {
        double sum = 0;
        for (const float v : x) sum += static_cast<double>(v);
        return sum / static_cast<double>(x.size());
    };
    std::printf("ink: %.3f, of real digits %.3f\n", ink(pictures), ink(all.images));
    expect(judge < first, "the discriminator's loss falls");
    // it rises first, while the discriminator learns what noise looks like
    expect(draw < 0.7f * worst, "the generator's loss falls from its highest");
    expect(std::abs(ink(pictures) - ink(all.images)) < 0.15, "the pictures have as much ink as digits");
}
