// SPDX-License-Identifier: BSD-3-Clause
// Training that goes on in a second session, from the file that the first one saved.
#include "io/temporary.hpp"
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_save_restore_model {

TEST_CASE("programs: save_restore_model") {
    mnist data;
    const io_test::temporary_directory folder;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const std::size_t batch_size = 100;
    const std::string model_path = folder / "model.ckpt";

    placeholder<float, dyn, 784> x("x");
    placeholder<float, dyn, 10> y("y");
    const variable<float, 784, 256> h1("h1", random_normal());
    const variable<float, 256, 256> h2("h2", random_normal());
    const variable<float, 256, 10> out("out", random_normal());
    const variable<float, 256> b1("b1", random_normal()), b2("b2", random_normal());
    const variable<float, 10> out_b("out_b", random_normal());
    const auto multilayer_perceptron = [&](const auto& in) {
        const tensor layer_1 = relu(matmul(in, h1) + b1);
        const tensor layer_2 = relu(matmul(layer_1, h2) + b2);
        return tensor(matmul(layer_2, out) + out_b);
    };
    const auto pred = multilayer_perceptron(x);
    const tensor cost = reduce_mean(softmax_cross_entropy(pred, y));
    const auto optimizer = adam(0.001f).minimize(cost);
    const tensor accuracy = reduce_mean(cast<float>(equal(argmax<1>(pred), argmax<1>(y))));
    saver keep;
    const auto train = [&](const session& s, int epochs) {
        float avg_cost = 0;
        for (int epoch = 0; epoch < epochs; ++epoch) {
            avg_cost = 0;
            const std::size_t total_batch = data.train.size() / batch_size;
            for (std::size_t i = 0; i < total_batch; ++i) {
                const auto batch = data.next_batch(batch_size);
                const auto [c] = s.run(std::tuple(cost, optimizer), feed(x, batch.images), feed(y, batch.labels));
                avg_cost += c / static_cast<float>(total_batch);
            }
        }
        return avg_cost;
    };
    const auto test = [&](const session& s) {
        return s.run(accuracy, feed(x, data.test.images), feed(y, data.test.labels));
    };
    std::string save_path;
    float first_cost = 0, first_accuracy = 0;
    {
        const session first;
        first.run(global_variables_initializer());
        first_cost = train(first, 3);
        first_accuracy = test(first);
        save_path = keep.save(first, model_path, 3);
    }
    const session second;
    second.run(global_variables_initializer());
    CHECK(test(second) < first_accuracy); // new random weights
    keep.restore(second, save_path);
    CHECK(test(second) == first_accuracy);
    const float second_cost = train(second, 7);
    const float reached = test(second);
    INFO("cost " << first_cost << " to " << second_cost << ", accuracy " << first_accuracy << " to " << reached);
    CHECK(second_cost < 0.5f * first_cost);
    CHECK(reached >= first_accuracy);
}

} // namespace test_programs_save_restore_model
