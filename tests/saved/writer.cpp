// SPDX-License-Identifier: BSD-3-Clause
// Builds the graphs of the examples and others, and writes each beside what some steps of it give. reader.cpp reads them.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <rill/graph/serialization/json.hpp>

#include "common.hpp"

namespace {

using namespace rill;

struct model {
    std::string name;
    std::vector<std::string> (*build)(); // the names to fetch
};

std::string name_of_node(const operation& o) { return o.name(); }

std::vector<std::string> iris() {
    current_graph().set_seed(7);
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    auto h1 = relu(dense<4, 10>("h1", x));
    auto h2 = relu(dense<10, 10>("h2", h1));
    tensor logits = dense<10, 3>("logits", h2);
    auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
    auto train = adam({.learning_rate = 0.01}).minimize(loss);
    return {loss.name(), logits.name(), name_of_node(train)};
}

std::vector<std::string> digits() {
    current_graph().set_seed(1);
    placeholder<float, dyn, 64> image("image");
    placeholder<int, dyn> label("label");
    auto hidden = relu(dense<64, 128>("hidden", image));
    auto logits = dense<128, 10>("logits", hidden);
    auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
    tensor predicted = argmax<1>(logits);
    auto accuracy = reduce_mean(cast<float>(equal(predicted, label)));
    auto train = adam({.learning_rate = 2e-3f}).minimize(loss);
    return {loss.name(), predicted.name(), accuracy.name(), name_of_node(train)};
}

std::vector<std::string> line() {
    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    auto loss = reduce_mean(square(w * x + b - y));
    auto train = gradient_descent(0.1f).minimize(loss);
    return {loss.name(), name_of_node(train), "w", "b"};
}

std::vector<std::string> curve() {
    current_graph().set_seed(5);
    placeholder<float, dyn, 1> x("x"), y("y");
    auto hidden = tanh(dense<1, 16>("hidden", x));
    tensor predicted = dense<16, 1>("out", hidden);
    auto loss = reduce_mean(square(predicted - y));
    auto train = adam({.learning_rate = 0.02}).minimize(loss);
    return {loss.name(), predicted.name(), name_of_node(train)};
}

/// Expressions that rill::kernels has no kernels of, and their derivatives of three orders.
std::vector<std::string> gelu() {
    placeholder<double, dyn, 5> x("x");
    tensor y = 0.5 * x * (1.0 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
    const auto [d] = gradients(y, x);
    const auto [dd] = gradients(d, x);
    const auto [ddd] = gradients(dd, x);
    tensor clipped = clip(x * y, -0.25, 0.25);
    const auto [dc] = gradients(clipped, x);
    auto largest = reduce_max<1>(y * x);
    const auto [dl] = gradients(largest, x);
    return {y.name(), d.name(), dd.name(), ddd.name(), clipped.name(), dc.name(), largest.name(), dl.name()};
}

/// Scopes, control dependencies, assignments, devices, collections.
std::vector<std::string> basics() {
    placeholder<float, dyn> x("x");
    name_scope outer("outer");
    variable<std::int64_t> count("count", std::int64_t(0), {.trainable = false});
    variable<float> total("total", 0.f);
    auto counted = count.assign_add(std::int64_t(1));
    std::vector<std::string> names;
    {
        control_dependencies after(counted);
        device_scope there("/cpu:0");
        name_scope inner("inner");
        tensor sum = reduce_sum(x * 2.f);
        auto added = total.assign_add(sum);
        tensor half = total * 0.5f + sum;
        names = {sum.name(), added.name(), half.name(), counted.name()};
        current_graph().add_to_collection("mine", half.end());
    }
    group(operation(counted.node()));
    return names;
}

/// Rows of a table by ids: sparse updates; random numbers.
std::vector<std::string> rows() {
    current_graph().set_seed(11);
    placeholder<int, dyn> ids("ids");
    variable<float, 3, 4> table("table", random_uniform<float, 3, 4>({.minval = -1, .maxval = 1}));
    tensor chosen = gather(table, ids);
    auto loss = reduce_sum(square(chosen - 0.25f));
    auto train = gradient_descent(0.05f).minimize(loss);
    auto noise = random_normal<float, 5>();
    return {loss.name(), chosen.name(), noise.name(), name_of_node(train), "table"};
}

/// A training run in one loop.
std::vector<std::string> training() {
    placeholder<float, dyn> x("x"), y("y");
    variable<float> w("w", 0.f), b("b", 0.f);
    const auto loss = reduce_mean(square(w * x + b - y));
    const auto done = while_loop([](auto i) { return i < 20; },
                                 [&](auto i) {
                                     gradient_descent(0.05f).minimize(reduce_mean(square(w * x + b - y)));
                                     return i + 1;
                                 },
                                 0);
    return {done.name(), loss.name(), "w", "b"};
}

/// A recurrent network over sequences of several lengths, and its training step.
std::vector<std::string> recurrent() {
    current_graph().set_seed(3);
    placeholder<float, dyn, 4> in("in");
    placeholder<int, 4> lengths("lengths");
    variable<float, 1, 8> w("w", glorot_uniform());
    variable<float, 8, 8> u("u", orthogonal());
    const auto [counts, states] = scan(
        [&](const auto& state, const auto& x) {
            const auto [count, h] = state;
            const tensor next = tanh(matmul(expand_dims<1>(x), w) + matmul(h, u));
            return std::tuple(count + 1, select(expand_dims<1>(count < lengths), next, h));
        },
        std::tuple(0, zeros<float, 4, 8>()), in);
    const auto loss = reduce_mean(square(states));
    const auto train = adam({.learning_rate = 0.01}).minimize(loss);
    return {loss.name(), states.name(), name_of_node(train)};
}

/// What goes into a queue comes out of it, sorted.
std::vector<std::string> queues() {
    placeholder<float, dyn> x("x");
    const priority_queue<tensor<float>> q({.capacity = 100, .name = "q"});
    const auto put = q.enqueue_many(cast<std::int64_t>(x * 1000.f), x);
    const auto [priorities, values] = q.dequeue_many(size(x));
    return {priorities.name(), values.name(), name_of_node(put)};
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: writer FOLDER\n"), 2;
    for (const model& m : {model{"iris", iris},
                           {"digits", digits},
                           {"line", line},
                           {"curve", curve},
                           {"gelu", gelu},
                           {"basics", basics},
                           {"rows", rows},
                           {"training", training},
                           {"recurrent", recurrent},
                           {"queues", queues}}) {
        const graph g;
        const graph_scope here(g);
        const auto names = m.build();
        const std::string path = std::string(argv[1]) + "/" + m.name;
        export_graph(g, path + ".rill");
        std::ofstream(path + ".json") << to_json(g);
        std::ofstream list(path + ".names");
        for (const auto& n : names) list << n << "\n";
        std::ofstream(path + ".values") << saved_graphs::run(g, names);
        std::printf("%s: %zu nodes\n", m.name.c_str(), g.size());
    }
}
