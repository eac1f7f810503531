// SPDX-License-Identifier: BSD-3-Clause
// Which iris is it? An estimator with two hidden layers over the four measures of a CSV file: 120 flowers to learn from, 30 to test on.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main() {
#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif
    // One order of all flowers, kept: both parts come from it.
    const auto flowers =
        dataset::csv<float, float, float, float, int>(RILL_EXAMPLE_DATA "/iris.csv").shuffle(150, 7).cache();
    const auto train_input = flowers.take(120).shuffle(120, 7).repeat().batch<32>();
    const auto test_input = flowers.skip(120).batch<30>();

    std::vector<feature_column> columns;
    const auto names = flowers.names();
    for (std::size_t i = 0; i + 1 < names.size(); ++i) columns.push_back(numeric_column(names[i]));
    dnn_classifier<hidden<10, 10>> iris(
        columns, {.classes = 3, .class_names = {"setosa", "versicolor", "virginica"}, .optimizer = adagrad(0.1f)});

    iris.train(train_input, {.steps = 1000});
    const auto m = iris.evaluate(test_input);
    std::printf("accuracy on 30 flowers: %.3f, loss %.3f\n", m.accuracy, m.loss);

    const xt::xtensor<float, 2> samples{{5.1f, 3.3f, 1.7f, 0.5f}, {5.9f, 3.0f, 4.2f, 1.5f}, {6.9f, 3.1f, 5.4f, 2.1f}};
    const auto p = iris.predict(samples);
    for (const auto& flower : p) {
        std::printf("  %-10s with probability %.2f\n", flower.class_name.c_str(),
                    static_cast<double>(flower.probabilities[static_cast<std::size_t>(flower.class_id)]));
        float sum = 0;
        for (const float each : flower.probabilities) sum += each;
        expect(flower.probabilities.size() == 3 && std::abs(sum - 1) < 1e-5f, "three probabilities, 1 together");
    }
    expect(m.accuracy >= 0.95, "an accuracy of 0.95 or better");
    expect(p[0].class_name == "setosa" && p[1].class_name == "versicolor" && p[2].class_name == "virginica",
           "the three flowers are what they look like");
}
