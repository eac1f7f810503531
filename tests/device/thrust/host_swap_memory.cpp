// SPDX-License-Identifier: BSD-3-Clause
// swap_memory on virtual devices with little memory: what a gradient needs later lies in host memory meanwhile.
#include <rill/rill.hpp>

#include <string>
#include <tuple>
#include <vector>

#include "../../catch.hpp"

using namespace rill;

namespace test_swap_memory {

constexpr std::size_t mega = std::size_t(1) << 20;

/// The result of a run: values, or the words of an error.
struct outcome {
    std::vector<float> values;
    std::string refused;
};

/// Returns true if the values are the same, bit for bit.
bool same(const outcome& a, const outcome& b) { return a.values == b.values; }

/// Runs what `make` adds to a graph, on a virtual device with a limit.
template <class Make> outcome run_under(std::size_t limit, const Make& make, const gpu_options& more = {}) {
    const graph g;
    const graph_scope here(g);
    outcome got;
    const auto results = [&] {
        const device_scope there("/device:thrust:0");
        return make();
    }();
    auto options = more;
    options.virtual_devices = {{limit}};
    const session s(g, {.gpu = options});
    s.run(global_variables_initializer());
    try {
        for (int i = 0; i < 2; ++i)
            for (const float x : s.run(results)) got.values.push_back(x);
    } catch (const resource_exhausted& problem) {
        got.refused = problem.what();
    }
    return got;
}

constexpr index_t rows = 4, columns = 1024, steps = 100; // a state has 16 KB, those of all iterations 1.6 MB

auto start() { return constant(xt::xtensor<float, 2>(0.01f * xt::ones<float>({rows, columns}))); }

/// Returns a loop's result and its gradients by the start and by a weight.
auto while_gradients(bool swap, std::int64_t most) {
    return [=] {
        variable<float, columns> w("w", constant_initializer(0.9f));
        const tensor x = identity(start());
        const auto next = [&](const auto& i, const auto& h) {
            return std::tuple(i + 1, tensor(tanh(h * w) + cumsum<0>(h) * 0.01f));
        };
        const auto [count, last] = while_loop([](const auto& i, const auto&) { return i < int(steps); }, next,
                                              std::tuple(0, x), {.maximum_iterations = most, .swap_memory = swap});
        const auto loss = reduce_sum(last);
        const auto [dx, dw] = gradients(loss, x, w);
        return tensor(concat<0>(reshape<1>(loss), reshape<rows * columns>(dx), dw));
    };
}
auto scan_gradients(bool swap) {
    return [=] {
        variable<float, columns> w("w", constant_initializer(0.9f));
        const tensor x = identity(start());
        const auto at = constant(xt::xtensor<float, 1>(xt::arange<float>(float(steps)) * 0.1f));
        const auto [last, out] = scan(
            [&](const auto& h, const auto& a) {
                const tensor next = tanh(h * w) + cumsum<0>(h) * 0.01f;
                return std::tuple(next, reduce_sum(next) * a);
            },
            x, at, {.swap_memory = swap});
        const auto loss = reduce_sum(last) + reduce_sum(out);
        const auto [dx, dw] = gradients(loss, x, w);
        return tensor(concat<0>(reshape<1>(loss), reshape<rows * columns>(dx), dw));
    };
}

template <class Make> void fits_only_with_swap(const Make& make) {
    const auto wanted = run_under(64 * mega, make(false));
    REQUIRE(wanted.refused.empty());
    CHECK(same(run_under(64 * mega + 1024, make(true)), wanted));
    CHECK_THAT(run_under(mega, make(false)).refused, contains("bytes are requested"));
    const auto swapped = run_under(mega + 1024, make(true));
    CHECK(swapped.refused == "");
    CHECK(same(swapped, wanted));
}

TEST_CASE("swap memory: a while loop whose saved states exceed the memory of its device has the same gradients") {
    fits_only_with_swap([](bool swap) { return while_gradients(swap, -1); });
}
TEST_CASE("swap memory: so has a while loop with a limit of iterations") {
    fits_only_with_swap([](bool swap) { return while_gradients(swap, steps + 3); });
}
TEST_CASE("swap memory: so has a scan") { fits_only_with_swap(scan_gradients); }

/// Returns the gradient of a loop whose state grows: what it keeps is a list of values of different extents.
auto growing_gradients(bool swap) {
    return [=] {
        const tensor<float, dyn> x = identity(constant(xt::xtensor<float, 1>(xt::arange<float>(600.f) * 0.001f)));
        const auto [count, last] =
            while_loop([](const auto& i, const auto&) { return i < 7; },
                       [](const auto& i, const auto& h) {
                           return std::tuple(i + 1, tensor<float, dyn>(concat<0>(tanh(h), cumsum<0>(h))));
                       },
                       std::tuple(0, x), {.swap_memory = swap});
        const auto [dx] = gradients(reduce_sum(square(last) * 0.001f), x);
        return tensor<float, dyn>(dx);
    };
}

TEST_CASE("swap memory: so has a loop whose state grows") {
    const auto wanted = run_under(64 * mega, growing_gradients(false));
    CHECK(wanted.refused == "");
    CHECK(wanted.values.size() == 1200);
    CHECK(same(run_under(64 * mega + 1024, growing_gradients(true)), wanted));
}

TEST_CASE("swap memory: so has a recurrent network, over sequences of several lengths") {
    const auto make = [](bool swap) {
        return [=] {
            const lstm_cell<4, 16> cell("lstm", {.kernel_initializer = constant_initializer(0.05f)});
            const tensor x = identity(constant(xt::xtensor<float, 3>(0.1f * xt::ones<float>({8, 300, 4}))));
            const auto [outputs, state] =
                dynamic_rnn(cell, x, {.lengths = constant({300, 7, 300, 1, 200, 300, 0, 299}), .swap_memory = swap});
            const auto loss = reduce_sum(square(outputs));
            const auto [dx] = gradients(loss, x);
            return tensor<float, dyn>(concat<0>(reshape<1>(loss), reshape<8 * 300 * 4>(dx)));
        };
    };
    const auto wanted = run_under(64 * mega, make(false));
    CHECK(wanted.refused == "");
    CHECK(same(run_under(64 * mega + 1024, make(true)), wanted));
}

/// Returns the losses of some training steps of a deep network, whose hidden layers have 64 KB each.
outcome train(std::size_t limit, bool swap) {
    constexpr index_t batch = 512, units = 32;
    constexpr int layers = 24;
    const graph g;
    const graph_scope here(g);
    const device_scope there("/device:thrust:0");
    placeholder<float, batch, units> x("x");
    tensor<float, batch, units> h = x;
    for (int i = 0; i < layers; ++i) h = tanh(dense<units, units>("layer" + std::to_string(i), h));
    const auto loss = reduce_mean(square(h - 0.5f));
    const auto step = adam({.learning_rate = 0.01}).minimize(loss);
    const session s(g, {.gpu = {.virtual_devices = {{limit}}, .swap_memory = swap}});
    s.run(global_variables_initializer());
    const xt::xtensor<float, 2> xs = xt::ones<float>({batch, units});
    outcome got;
    try {
        for (int i = 0; i < 3; ++i) got.values.push_back(std::get<0>(s.run(std::tuple(loss, step), feed(x, xs))));
    } catch (const resource_exhausted& problem) {
        got.refused = problem.what();
    }
    return got;
}

TEST_CASE("swap memory: a step whose activations exceed the memory of its device trains with swaps alone") {
    const auto wanted = train(64 * mega, false);
    REQUIRE(wanted.values.size() == 3);
    CHECK(wanted.values[2] < wanted.values[0]);
    constexpr std::size_t little = 3 * mega / 2;
    CHECK_THAT(train(little, false).refused, contains("bytes are requested"));
    const auto swapped = train(little + 1024, true);
    CHECK(swapped.refused == "");
    CHECK(swapped.values == wanted.values);
    CHECK_THAT(train(mega / 2, true).refused, contains("bytes are requested")); // the variables alone take most of it
}

} // namespace test_swap_memory
