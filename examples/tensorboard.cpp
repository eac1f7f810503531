// SPDX-License-Identifier: BSD-3-Clause
// Event files for TensorBoard: curves, distributions, pictures, text, the graph and a traced step. Afterwards: tensorboard --logdir tensorboard_run
#include <cstdio>
#include <random>
#include <string>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main(int argc, char** argv) {
    const std::string directory = argc > 1 ? argv[1] : "tensorboard_run";
    const auto step = get_or_create_global_step();
    placeholder<float, dyn, 8> x("x");
    const variable<float, 8, 8> w("layer/w", glorot_uniform(1));
    tensor<float> loss;
    {
        const name_scope scope("loss");
        loss = reduce_mean(square(matmul(x, w) - x));
    }
    const auto train = adam(0.01f).minimize(loss, step);
    scalar_summary("loss", loss);
    histogram_summary("w", w);
    image_summary("picture", w);
    text_summary("notes", constant("Learns the **identity**."));
    const auto merged = merged_summaries();

    const session s;
    s.run(global_variables_initializer());
    event_writer log(directory);
    log.add_graph(s.graph());
    std::mt19937 generator(7);
    std::normal_distribution<float> draw;
    float first = 0, now = 0;
    for (int i = 0; i < 200; ++i) {
        xt::xtensor<float, 2> batch = xt::zeros<float>({16, 8});
        for (auto& v : batch) v = draw(generator);
        if (i % 10 == 0) log.add(std::get<0>(s.run(std::tuple(merged, train), feed(x, batch))), i);
        now = std::get<0>(s.run(std::tuple(loss, train), feed(x, batch)));
        if (i == 0) first = now;
        log.scalar("loss/each", now, i);
    }
    const auto [value, trace] = s.run_traced(loss, feed(x, xt::ones<float>({16, 8})));
    log.add_run_metadata("step 200", trace, 200, s.graph());
    log.flush();
    std::printf("loss %g -> %g (%g), written to %s\n", static_cast<double>(first), static_cast<double>(now),
                static_cast<double>(value), log.path().c_str());
    expect(now < first, "it learns");
}
