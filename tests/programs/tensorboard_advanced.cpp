// SPDX-License-Identifier: BSD-3-Clause
// Curves and distributions of all activations, weights and gradients for TensorBoard.
#include <fstream>
#include <iterator>

#include <rill/io/tf_record.hpp>

#include "io/temporary.hpp"
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_tensorboard_advanced {

TEST_CASE("programs: tensorboard_advanced") {
    mnist data;
    const io_test::temporary_directory logs;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int training_epochs = steps(3, 25);
    const std::size_t batch_size = 100;

    placeholder<float, dyn, 784> x("InputData");
    placeholder<float, dyn, 10> y("LabelData");
    const variable<float, 784, 256> w1("W1", random_normal());
    const variable<float, 256, 256> w2("W2", random_normal());
    const variable<float, 256, 10> w3("W3", random_normal());
    const variable<float, 256> b1("b1", random_normal()), b2("b2", random_normal());
    const variable<float, 10> b3("b3", random_normal());
    const auto multilayer_perceptron = [&](const auto& in) {
        const tensor layer_1 = relu(matmul(in, w1) + b1);
        histogram_summary("relu1", layer_1);
        const tensor layer_2 = relu(matmul(layer_1, w2) + b2);
        histogram_summary("relu2", layer_2);
        return tensor(matmul(layer_2, w3) + b3);
    };
    tensor<float, dyn, 10> pred;
    tensor<float> loss, acc;
    std::vector<gradient_and_variable> grads;
    operation apply_grads;
    {
        const name_scope scope("Model");
        pred = multilayer_perceptron(x);
    }
    {
        const name_scope scope("Loss");
        loss = reduce_mean(softmax_cross_entropy(pred, y));
    }
    {
        const name_scope scope("SGD");
        const gradient_descent optimizer(0.01f);
        const auto variables = trainable_variables();
        const auto by = gradients({loss}, variables);
        for (std::size_t i = 0; i < variables.size(); ++i) grads.push_back({by[i], variables[i]});
        apply_grads = optimizer.apply_gradients(grads);
    }
    {
        const name_scope scope("Accuracy");
        acc = reduce_mean(cast<float>(equal(argmax<1>(pred), argmax<1>(y))));
    }
    scalar_summary("loss", loss);
    scalar_summary("accuracy", acc);
    for (const auto& v : trainable_variables()) histogram_summary(v.name(), v);
    for (const auto& [grad, v] : grads) histogram_summary(v.name() + "/gradient", grad);
    const auto merged_summary_op = merged_summaries();

    session s;
    s.run(global_variables_initializer());
    event_writer summary_writer(logs.path());
    summary_writer.add_graph(g);
    float first = 0, avg_cost = 0;
    std::size_t written = 0;
    for (int epoch = 0; epoch < training_epochs; ++epoch) {
        avg_cost = 0;
        const std::size_t total_batch = data.train.size() / batch_size;
        for (std::size_t i = 0; i < total_batch; ++i) {
            const auto batch = data.next_batch(batch_size);
            const auto [c, summary] =
                s.run(std::tuple(loss, merged_summary_op, apply_grads), feed(x, batch.images), feed(y, batch.labels));
            summary_writer.add(summary, static_cast<std::int64_t>(written++));
            avg_cost += c / static_cast<float>(total_batch);
        }
        if (epoch == 0) first = avg_cost;
    }
    const float reached = s.run(acc, feed(x, data.test.images), feed(y, data.test.labels));
    summary_writer.flush();
    std::ifstream file(summary_writer.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    INFO("cost " << first << " to " << avg_cost << ", accuracy " << reached);
    CHECK(detail::tf_records(bytes).size() == written + 2); // behind the version and the graph
    CHECK(avg_cost < first);
    CHECK(reached > 0.5f);
}

} // namespace test_programs_tensorboard_advanced
