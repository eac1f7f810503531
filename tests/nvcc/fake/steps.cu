// SPDX-License-Identifier: BSD-3-Clause
// The calls of CUDA's runtime by a step on the GPU, counted by a runtime of our own (runtime.hpp): no card is needed, and no kernel runs. A
// step that has run before allocates nothing, waits once, and starts the same number of kernels each time.
#include <complex>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <rill/rill.hpp>

#include "runtime.hpp"

using namespace rill;

static_assert(detail::has_device_kernel<gpu, assign_op, void>()); // one for all types
static_assert(detail::has_device_kernel<gpu, matmul_op, float>());
static_assert(!detail::has_device_kernel<gpu, matmul_op, std::complex<float>>());
static_assert(!detail::has_device_kernel<gpu, matrix_inverse_op, float>());

namespace {

int problems = 0;

void expect(bool good, const std::string& what) {
    std::printf("%s: %s\n", good ? "ok" : "WRONG", what.c_str());
    problems += good ? 0 : 1;
}

/// Runs a step until it is bound, then many times, and counts.
void check_step(const std::string& name, const std::function<void()>& run, int waits, int most_launches) {
    for (int i = 0; i < 3; ++i) run();
    constexpr int runs = 50;
    fake_cuda::reset();
    run();
    const int launches = fake_cuda::counted().launches;
    for (int i = 1; i < runs; ++i) run();
    const auto all = fake_cuda::counted();
    const auto each = [&](int n) { return std::to_string(n / runs) + (n % runs ? "…" : ""); };
    const std::string said = name + ": " + each(all.launches) + " kernels, " + each(all.copies_in) +
                             " copies to the card, " + each(all.copies_out) + " from it, " + each(all.waits) +
                             " waits, " + std::to_string(all.allocations) + " allocations";
    expect(all.allocations == 0 && all.releases == 0 && all.waits == waits * runs &&
               all.launches == launches * runs && launches > 0 && launches <= most_launches,
           said + "; at most " + std::to_string(most_launches) + " kernels are allowed");
}

void training() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    const auto h = relu(dense<10, 10>("two", relu(dense<4, 10>("one", x))));
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(dense<10, 3>("three", h), label));
    const auto step = gradient_descent(0.01f).minimize(loss);
    const session s;
    s.run(global_variables_initializer());
    const auto call = s.make_callable(step, x, label);
    std::vector<float> xs(128);
    std::vector<int> ids(32);
    check_step("a training step of 4-10-10-3", [&] { call(xs, ids); }, 1, 33);
    int rows = 16;
    check_step("the same with batches of two sizes",
               [&] {
                   rows = 80 - rows; // 64 and 16
                   const auto n = static_cast<std::size_t>(rows);
                   call(std::vector<float>(n * 4), std::vector<int>(n));
               },
               1, 33);
}

void chain() {
    const graph g;
    const graph_scope here(g);
    const variable<float, 100000> x("x", constant_initializer(1.f));
    const tensor y(0.5f * x * (1.f + tanh(0.79788456f * (x + 0.044715f * x * x * x))) + 0.1f * x);
    const session s;
    s.run(global_variables_initializer());
    const auto call = s.make_callable(operation(y));
    check_step("a chain of 11 operations", [&] { call(); }, 1, 1);
}

/// Nodes of two virtual devices of the card: values cross through the host, which waits for each.
void virtual_devices() {
    const graph g;
    const graph_scope here(g);
    const auto on = [](int i) { return "/device:gpu:" + std::to_string(i); };
    placeholder<float, dyn> x("x");
    tensor<float, dyn> a;
    {
        const device_scope there(on(0));
        a = tensor<float, dyn>(x * 2.f);
    }
    const device_scope there(on(1));
    const tensor<float> sum = reduce_sum(a + 1.f);
    const session s({.gpu = {.virtual_devices = {{64 << 20, 32 << 20}}}});
    std::vector<std::size_t> bytes;
    for (const auto& d : s.devices())
        if (d.type == "gpu") bytes.push_back(d.memory);
    expect(bytes == std::vector<std::size_t>{64 << 20, 32 << 20}, "two virtual devices are listed with their limits");
    const std::vector<float> value(1000);
    s.run(sum, feed(x, value));
    std::string words;
    try {
        s.run(sum, feed(x, std::vector<float>(6'000'000))); // twice 24 MB on each
    } catch (const resource_exhausted& problem) {
        words = problem.what();
    }
    expect(words.find("virtual device 1 of gpu:0: ") != std::string::npos &&
               words.find("of 33554432 are in use") != std::string::npos,
           "a virtual device takes no more than its limit: " + words);
    s.run(sum, feed(x, value));
    const std::vector<std::pair<gpu_options, std::string>> wrong{
        {{.visible_devices = {1}}, "there are 1"},
        {{.virtual_devices = {{fake_cuda::total(), 1}}}, "which has " + std::to_string(fake_cuda::total())}};
    for (const auto& [options, said] : wrong) {
        words.clear();
        try {
            session({.gpu = options});
        } catch (const invalid_argument& problem) {
            words = problem.what();
        }
        expect(words.find(said) != std::string::npos, "wrong options are refused: " + words);
    }
}

/// Functions of matrices and complex numbers have no kernels on a GPU: they run on the CPU, with copies.
void nodes_of_the_cpu() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 2, 2> m("m");
    placeholder<std::complex<float>, dyn> z("z");
    const session s;
    const auto inverse = s.run(matrix_inverse(m), feed(m, xt::xtensor<float, 2>{{2, 0}, {0, 4}}));
    expect(inverse(0, 0) == 0.5f && inverse(1, 1) == 0.25f, "an inverse is computed on the CPU");
    const std::vector<std::complex<float>> value{{1, 2}};
    expect(s.run(z * z, feed(z, value))(0) == std::complex<float>(-3, 4), "so are complex numbers");
    const auto pinned = [&] {
        const device_scope there("/device:gpu:0");
        return matrix_inverse(m);
    }();
    std::string words;
    try {
        s.run(pinned, feed(m, xt::xtensor<float, 2>{{1, 0}, {0, 1}}));
    } catch (const invalid_argument& problem) {
        words = problem.what();
    }
    expect(words.find("no kernel of the op") != std::string::npos, "one that asks for the GPU is refused: " + words);
}

/// A fault of the card reaches the run, and all later ones.
void faults() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto y = tensor(x + 1.f);
    const session s;
    const std::vector<float> value{1, 2};
    s.run(y, feed(x, value));
    const auto words_of = [&]() -> std::string {
        try {
            s.run(y, feed(x, value));
        } catch (const internal& problem) {
            return problem.what();
        }
        return "";
    };
    fake_cuda::fail(cudaErrorIllegalAddress);
    for (int i = 0; i < 2; ++i) {
        const std::string words = words_of();
        expect(words.find("gpu:0") != std::string::npos && words.find("cudaErrorIllegalAddress") != std::string::npos,
               "a fault is told: " + words);
    }
    fake_cuda::fail(cudaSuccess);
    expect(s.run(y, feed(x, value)).size() == 2, "the session itself is whole");
}

} // namespace

int main() {
    expect(the_gpus().size() == 1 && default_device().name == "gpu", "one card is found, and is the default");
    training(), chain(), virtual_devices(), nodes_of_the_cpu(), faults();
    return problems ? 1 : 0;
}
