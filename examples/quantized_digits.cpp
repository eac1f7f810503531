// SPDX-License-Identifier: BSD-3-Clause
// A classifier of handwritten digits in eight bits: trained in floats, then computed with weights and values of one byte each.
// Sums of products are 32-bit integers, whose ranges the graph finds itself.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

namespace {

constexpr auto mode = quantize_mode::min_first; // 0 is an integer: products need that

/// x w + b in bytes: the product of quantised numbers, its range, a byte for each sum, and floats again for the bias.
template <class X, class L, class H, class W, class B>
auto dense_in_bytes(const X& x, const L& x_low, const H& x_high, const W& weights, const B& bias) {
    const auto [q, q_low, q_high] = quantize<quint8>(x, x_low, x_high, mode);
    const auto [w, w_low, w_high] = quantize<quint8>(weights, reduce_min(weights), reduce_max(weights), mode);
    const auto [sums, low, high] = quantized_matmul(q, w, q_low, q_high, w_low, w_high);
    const auto [used_low, used_high] = requantization_range(sums, low, high);
    const auto [bytes, from, to] = requantize<quint8>(sums, low, high, used_low, used_high);
    return dequantize(bytes, from, to, mode) + bias;
}

} // namespace

int main(int argc, char** argv) {
#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif
    const auto table = read_csv<float>(argc > 1 ? argv[1] : RILL_EXAMPLE_DATA "/digits.csv");
    const std::size_t count = table.values.shape(0), train_count = count * 8 / 10;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(42));
    xt::xtensor<float, 2> images({count, 64});
    auto labels = xt::xtensor<int, 1>::from_shape({count});
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t p = 0; p < 64; ++p) images(i, p) = table.values(order[i], p) / 16.f;
        labels(i) = static_cast<int>(table.values(order[i], 64));
    }

    const graph g;
    g.set_seed(1);
    const graph_scope here(g);
    const placeholder<float, dyn, 64> image("image");
    const placeholder<int, dyn> label("label");
    const variable<float, 64, 64> w1("w1", glorot_uniform());
    const variable<float, 64> b1("b1", zeros());
    const variable<float, 64, 10> w2("w2", glorot_uniform());
    const variable<float, 10> b2("b2", zeros());
    const tensor hidden = relu(matmul(image, w1) + b1);
    const tensor logits = matmul(hidden, w2) + b2;
    const auto train = adam(2e-3f).minimize(reduce_mean(sparse_softmax_cross_entropy(logits, label)));

    const tensor hidden8 = relu(dense_in_bytes(image, 0, 1, w1, b1));
    const tensor logits8 = dense_in_bytes(hidden8, 0, reduce_max(hidden8), w2, b2);
    const auto accuracy_of = [&](const auto& of) { return reduce_mean(cast<float>(equal(argmax<1>(of), label))); };
    const auto accuracy = accuracy_of(logits), accuracy8 = accuracy_of(logits8);

    const session s;
    s.run(global_variables_initializer());
    const auto step = s.make_callable(train, image, label);
    constexpr std::size_t batch = 32;
    xt::xtensor<float, 2> some({batch, 64});
    auto their = xt::xtensor<int, 1>::from_shape({batch});
    for (int epoch = 0; epoch < 15; ++epoch)
        for (std::size_t at = 0; at + batch <= train_count; at += batch) {
            std::copy_n(&images(at, 0), batch * 64, some.begin());
            std::copy_n(&labels(at), batch, their.begin());
            step(some, their);
        }

    const auto [in_floats, in_bytes, exact, rounded] =
        s.run(std::tuple(accuracy, accuracy8, logits, logits8), feed(image, images), feed(label, labels));
    float apart = 0, most = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        apart = std::max(apart, std::abs(exact.flat(i) - rounded.flat(i)));
        most = std::max(most, std::abs(exact.flat(i)));
    }
    const int bytes_of_floats = (64 * 64 + 64 * 10) * 4;
    std::printf("weights: %d bytes as floats, %d as quint8\n", bytes_of_floats, bytes_of_floats / 4);
    std::printf("accuracy of all %zu digits: %.2f %% in floats, %.2f %% in eight bits\n", count,
                static_cast<double>(100 * in_floats), static_cast<double>(100 * in_bytes));
    std::printf("logits lie up to %.3f apart, of %.1f\n", static_cast<double>(apart), static_cast<double>(most));
    expect(in_floats > 0.97f, "the classifier reads digits");
    expect(in_floats - in_bytes < 0.01f, "eight bits lose less than one point of accuracy");
    expect(apart > 0, "the bytes are used");
}
