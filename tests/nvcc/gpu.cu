// SPDX-License-Identifier: BSD-3-Clause
// Programs on the device "gpu" beside the CPU. `make check` compiles this file; `make gpu` runs it on a machine with a card. It exits with 77
// where there is no GPU, after it has seen that such a program starts and runs on the CPU.
#include <rill/rill.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace rill;

static_assert(device_primitives<gpu>);

namespace rill_test {

int problems = 0;

void expect(bool good, const std::string& what) {
    std::printf("%s: %s\n", good ? "ok" : "WRONG", what.c_str());
    problems += good ? 0 : 1;
}

using numbers = std::vector<double>;

template <class X> numbers values_of(const X& x) {
    if constexpr (std::is_arithmetic_v<X>)
        return {static_cast<double>(x)};
    else
        return {x.begin(), x.end()};
}

xt::xtensor<float, 2> drawn(std::size_t rows, std::size_t columns, unsigned seed) {
    std::mt19937 r(seed);
    xt::xtensor<float, 2> all({rows, columns});
    for (auto& x : all) x = static_cast<float>(r() % 2001) / 1000.f - 1.f;
    return all;
}

/// Runs a program on the CPU and on the default device: the same numbers, within rounding.
template <class F> void on_both(const std::string& name, const F& f) {
    const auto run = [&](const std::string& device) {
        const graph g;
        const graph_scope here(g);
        const device_scope there(device);
        return f();
    };
    const numbers wanted = run("/device:cpu:0"), got = run("");
    bool good = got.size() == wanted.size();
    double worst = 0;
    for (std::size_t i = 0; good && i < got.size(); ++i) {
        if (std::isnan(got[i]) && std::isnan(wanted[i])) continue;
        worst = std::max(worst, std::abs(got[i] - wanted[i]) / std::max(1., std::abs(wanted[i])));
    }
    good = good && worst <= 1e-4;
    expect(good, name + ", apart by " + std::to_string(worst));
}

void classifier() {
    on_both("a classifier trained by Adam", [] {
        placeholder<float, dyn, 4> x("x");
        placeholder<int, dyn> label("label");
        auto logits = dense<10, 3>("two", relu(dense<4, 10>("one", x)));
        auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, label));
        auto step = adam({.learning_rate = 0.05}).minimize(loss);
        const session s;
        s.run(global_variables_initializer());
        const auto xs = drawn(20, 4, 5);
        std::vector<int> labels(20);
        for (std::size_t i = 0; i < 20; ++i) labels[i] = xs(i, 0) > 0.2f ? 2 : xs(i, 1) > 0 ? 1 : 0;
        numbers got;
        for (int i = 0; i < 20; ++i)
            got.push_back(std::get<0>(s.run(std::tuple(loss, step), feed(x, xs), feed(label, labels))));
        return got;
    });
}

void images() {
    on_both("a convolution, a pool and their gradients", [] {
        placeholder<float, dyn, dyn> flat("flat");
        variable<float, 3, 3, 1, 4> filter("filter", constant_initializer(0.1f));
        const auto image = reshape<2, 8, 8, 1>(flat);
        const auto y = max_pool<window{.size = {2, 2}}>(relu(conv2d<window{}>(image, filter)));
        const auto [dx, df] = gradients(reduce_sum(square(y)), flat, filter);
        const session s;
        s.run(global_variables_initializer());
        const auto [a, b] = s.run(std::tuple(dx, df), feed(flat, drawn(2, 64, 6)));
        numbers got = values_of(a);
        for (const double v : values_of(b)) got.push_back(v);
        return got;
    });
}

void nodes() {
    on_both("rows, scans, indices, sums and random numbers", [] {
        placeholder<float, dyn, dyn> x("x");
        placeholder<int, dyn> ids("ids");
        variable<float, 6, 3> table("table", constant_initializer(0.5f));
        const auto step = gradient_descent(0.5f).minimize(reduce_mean(square(gather<0>(table, ids) - 1.f)));
        const auto noise = random_normal<float, 6>({.seed = 3});
        const session s;
        s.run(global_variables_initializer());
        const auto value = drawn(5, 7, 3);
        numbers got;
        const auto add = [&](const auto& y) {
            for (const double v : values_of(s.run(y, feed(x, value), feed(ids, {4, 0, 1, 1})))) got.push_back(v);
        };
        add(softmax(x)), add(matmul(x, transpose(x))), add(cumsum<1>(x)), add(reduce_sum<0>(x)), add(reduce_mean(x));
        add(reduce_max<1>(x)), add(cast<float>(argmax<1>(x))), add(concat<1>(x, x)), add(one_hot<7>(ids)), add(noise);
        s.run(step, feed(ids, {1, 5, 1}));
        add(table);
        return got;
    });
}

void errors() {
    const graph g;
    const graph_scope here(g);
    placeholder<int, dyn> ids("ids");
    const auto y = gather<0>(tensor(constant({1.f, 2.f})), ids);
    const session s;
    std::string words;
    try {
        s.run(y, feed(ids, {0, 7}));
    } catch (const invalid_argument& problem) {
        words = problem.what();
    }
    expect(words.find("id 7 at [1] is outside [0, 2)") != std::string::npos, "a bad id is told: " + words);
    expect(values_of(s.run(y, feed(ids, {1, 0}))) == numbers{2, 1}, "the session goes on");
}

} // namespace rill_test

int main() {
    using namespace rill_test;
    std::printf("%zu GPUs\n", the_gpus().size());
    classifier(), images(), nodes(), errors();
    if (problems) return 1;
    return the_gpus().empty() ? 77 : 0;
}
