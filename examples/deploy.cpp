// SPDX-License-Identifier: BSD-3-Clause
// From training to use: a classifier is trained, its weights become constants, and the file that holds it is run by names alone, as a program
// that knows nothing of the model does. Argument: the file, deploy.rill if there is none.
#include "digits28.hpp"

#include <rill/graph/serialization/serialization.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

/// Trains a classifier of the digits and writes its frozen graph to a file. Returns its answers for some images.
std::vector<std::int64_t> train_and_export(const digit_images& train_set, const digit_images& asked,
                                           const std::string& file) {
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    placeholder<float, dyn, 28, 28, 1> image("image");
    placeholder<int, dyn> label("label");
    placeholder<bool> training("training");
    const auto net = sequential(flatten(), dense<64>(activation::relu), dropout(0.2f, training), dense<10>());
    const auto logits = net("net", image);
    const auto loss = losses::sparse_softmax_cross_entropy(label, logits);
    const auto train = adam(2e-3f).minimize(loss);
    const tensor chances(softmax(logits), "chances");
    const tensor answers(argmax<1, std::int64_t>(logits), "answers");

    session s;
    s.run(global_variables_initializer());
    batches from(train_set, 64);
    for (int i = 1; i <= 400; ++i) {
        const auto batch = from.next();
        const auto [l] =
            s.run(std::tuple(loss, train), feed(image, batch.images), feed(label, batch.labels), feed(training, true));
        if (i % 100 == 0) std::printf("step %d: loss %.4f\n", i, static_cast<double>(l));
    }
    export_graph(freeze(s, {answers, chances}), file);
    std::printf("%s has the weights as constants\n", file.c_str());
    const auto given = s.run(answers, feed(image, asked.images), feed(training, false));
    return {given.begin(), given.end()};
}

} // namespace

int main(int argc, char** argv) {
    const std::string file = argc > 1 ? argv[1] : "deploy.rill";
    const digit_images all = read_digits(1, argv);
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto split = order.begin() + static_cast<std::ptrdiff_t>(order.size() * 8 / 10);
    const digit_images train_set = all.taken({order.begin(), split}), asked = all.taken({split, order.end()});
    const auto wanted = train_and_export(train_set, asked, file);

    // from here on only the file counts
    const graph model = import_graph(file);
    expect(parameters_of(model).empty(), "a frozen graph has no variables");
    const session s(model);
    const auto [named, sureness] = s.run(std::tuple(fetch("answers:0"), fetch("chances:0")),
                                         feed("image:0", asked.images), feed("training:0", false));
    const auto answers = named.elements<std::int64_t>();
    const auto chances = sureness.elements<float>();
    std::size_t right = 0, sure = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        right += answers[i] == asked.labels[i];
        sure += chances[i * 10 + static_cast<std::size_t>(answers[i])] > 0.9f;
        expect(answers[i] == wanted[i], "the file answers as the session did that trained");
    }
    std::printf("%zu of %zu images are read right; of %zu the model is sure\n", right, asked.size(), sure);
    draw_digits(asked.images, 4);
    for (std::size_t i = 0; i < 4; ++i) std::printf("  read as %lld%21s", static_cast<long long>(answers[i]), "");
    std::printf("\n");
    expect(static_cast<double>(right) > 0.93 * static_cast<double>(asked.size()), "a test accuracy of 0.93 or better");
    std::remove(file.c_str());
}
