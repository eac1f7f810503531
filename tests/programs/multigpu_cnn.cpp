// SPDX-License-Identifier: BSD-3-Clause
// Towers of a convolutional network on two devices, which share variables on a third one. Here all three are CPU devices.
#include "programs/mnist.hpp"

using namespace programs;

namespace test_programs_multigpu_cnn {

constexpr float drop = 0.75f;

template <bool IsTraining, class X> auto conv_net(const X& images) {
    const variable_scope scope("ConvNet", {.reuse = reuse::automatic});
    const auto x = reshape<dyn, 28, 28, 1>(images);
    const auto a = max_pooling<window{.size = {2, 2}}>()(conv<64, window{.size = {5, 5}}>(activation::relu)(x));
    const auto b = conv<256, window{.size = {3, 3}}>(activation::relu)(a);
    const auto c = conv<512, window{.size = {3, 3}}>(activation::relu)(b);
    const auto flat = flatten(max_pooling<window{.size = {2, 2}}>()(c));
    const auto wide = dropout(dense<2048>()(flat), drop, IsTraining);
    const auto narrow = dropout(dense<1024>()(wide), drop, IsTraining);
    const auto out = dense<10>()(narrow);
    if constexpr (IsTraining)
        return out;
    else
        return softmax(out);
}

/// Returns the mean gradient of each variable over all towers.
std::vector<gradient_and_variable>
average_gradients(const std::vector<std::vector<gradient_and_variable>>& tower_grads) {
    std::vector<gradient_and_variable> average_grads;
    for (std::size_t v = 0; v < tower_grads[0].size(); ++v) {
        std::vector<any_tensor> grads;
        for (const auto& tower : tower_grads) grads.push_back(expand_dims(tower[v].gradient, 0));
        average_grads.push_back({reduce_mean(concat(grads, 0), 0), tower_grads[0][v].variable});
    }
    return average_grads;
}

/// Puts variables on one device and all else on another.
device_function assign_to_device(const std::string& device, const std::string& ps_device) {
    return [=](const node_info& n) { return n.is_variable() ? ps_device : device; };
}

TEST_CASE("programs: multigpu_cnn") {
    mnist data;
    const graph g;
    const graph_scope here(g);
    g.set_seed(1);
    const int num_gpus = 2, num_steps = steps(20, 200);
    const std::size_t batch_size = static_cast<std::size_t>(steps(16, 1024));

    const device_scope on_cpu("/cpu:0");
    placeholder<float, dyn, 784> images("X");
    placeholder<float, dyn, 10> labels("Y");
    const adam optimizer(0.001f);
    std::vector<std::vector<gradient_and_variable>> tower_grads;
    tensor<float> loss_op, accuracy;
    for (int i = 0; i < num_gpus; ++i) {
        const device_scope tower(assign_to_device("/cpu:" + std::to_string(i + 1), "/cpu:0"));
        const auto from = i * static_cast<int>(batch_size), to = from + static_cast<int>(batch_size);
        const tensor own_images = images(slice_range{from, to});
        const tensor own_labels = labels(slice_range{from, to});
        const auto logits_train = conv_net<true>(own_images);
        const auto logits_test = conv_net<false>(own_images);
        loss_op = tensor(reduce_mean(softmax_cross_entropy(logits_train, own_labels)));
        tower_grads.push_back(optimizer.compute_gradients(loss_op));
        if (i == 0) accuracy = tensor(reduce_mean(cast<float>(equal(argmax<1>(logits_test), argmax<1>(own_labels)))));
    }
    CHECK(trainable_variables("ConvNet").size() == 12); // shared by the towers
    const auto train_op = optimizer.apply_gradients(average_gradients(tower_grads));

    const session s(g, {.device_count = {{"cpu", num_gpus + 1}}, .partition_devices = true});
    s.run(global_variables_initializer());
    float first = 0, last = 0;
    for (int step = 1; step <= num_steps; ++step) {
        const auto batch = data.next_batch(batch_size * static_cast<std::size_t>(num_gpus));
        s.run(train_op, feed(images, batch.images), feed(labels, batch.labels));
        if (step == 1 || step == num_steps) {
            last = s.run(loss_op, feed(images, batch.images), feed(labels, batch.labels));
            if (step == 1) first = last;
        }
    }
    float right = 0;
    std::size_t parts = 0;
    for (std::size_t at = 0; at + batch_size <= std::min<std::size_t>(data.test.size(), 128); at += batch_size) {
        std::vector<std::size_t> which(batch_size);
        std::iota(which.begin(), which.end(), at);
        const auto part = data.test.rows(which);
        right += s.run(accuracy, feed(images, part.images), feed(labels, part.labels));
        ++parts;
    }
    INFO("loss " << first << " to " << last << ", accuracy " << right / static_cast<float>(parts));
    CHECK(last < first);
    CHECK(right / static_cast<float>(parts) > 0.25f); // one in ten by chance
}

} // namespace test_programs_multigpu_cnn
