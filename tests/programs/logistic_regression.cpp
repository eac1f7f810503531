// SPDX-License-Identifier: BSD-3-Clause
// Handwritten digits by a softmax of one layer.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_logistic_regression {

TEST_CASE("programs: logistic_regression") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    const int training_epochs = steps(25, 25);
    const std::size_t batch_size = 100;

    placeholder<float, dyn, 784> x("x");
    placeholder<float, dyn, 10> y("y");
    variable<float, 784, 10> weights("W", zeros());
    variable<float, 10> bias("b", zeros());

    const tensor pred = softmax(matmul(x, weights) + bias);
    const tensor cost = reduce_mean(-reduce_sum<1>(y * log(pred)));
    const auto optimizer = gradient_descent(0.01f).minimize(cost);

    session s;
    s.run(global_variables_initializer());
    float first = 0, avg_cost = 0;
    for (int epoch = 0; epoch < training_epochs; ++epoch) {
        avg_cost = 0;
        const std::size_t total_batch = data.train.size() / batch_size;
        for (std::size_t i = 0; i < total_batch; ++i) {
            const auto batch = data.next_batch(batch_size);
            const auto [c] = s.run(std::tuple(cost, optimizer), feed(x, batch.images), feed(y, batch.labels));
            avg_cost += c / static_cast<float>(total_batch);
        }
        if (epoch == 0) first = avg_cost;
    }
    const auto correct_prediction = equal(argmax<1>(pred), argmax<1>(y));
    const tensor accuracy = reduce_mean(cast<float>(correct_prediction));
    const float reached = s.run(accuracy, feed(x, data.test.images), feed(y, data.test.labels));
    INFO("cost " << first << " to " << avg_cost << ", accuracy " << reached);
    CHECK(avg_cost < 0.5f * first);
    CHECK(reached > 0.85f);
}

} // namespace test_programs_logistic_regression
