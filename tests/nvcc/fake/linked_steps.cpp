// SPDX-License-Identifier: BSD-3-Clause
// A program of C++ alone with rill::gpu_kernels, over a CUDA runtime of ours (runtime.hpp): what it asks of the runtime, counted. A step
// that has run before allocates nothing, waits once, and starts the same number of kernels each time, one by one or as a CUDA graph. Code of the program itself has no
// kernels for the GPU, and runs on the CPU.
#include <cmath>
#include <concepts>
#include <cstdio>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <rill/rill.hpp>

#include "expect.hpp"
#include "runtime.hpp"

using namespace rill;
using fake_cuda::expect;
using fake_cuda::problems;

namespace {

/// Runs a step until it is bound and captured, then many times, and counts.
void check_step(const std::string& name, const std::function<void()>& run, int most_kernels) {
    for (int i = 0; i < 8; ++i) run();
    constexpr int runs = 50;
    fake_cuda::reset();
    for (int i = 0; i < runs; ++i) run();
    const auto all = fake_cuda::counted();
    const int copies = all.copies_in + all.copies_out + all.copies_within;
    const int kernels = static_cast<int>(fake_cuda::started().size()) - copies;
    expect(kernels > 0 && kernels % runs == 0 && kernels / runs <= most_kernels && all.allocations == 0 &&
               all.releases == 0 && all.captures == 0 && all.waits == runs,
           name + ": " + std::to_string(kernels / runs) + " kernels, at most " + std::to_string(most_kernels) +
               " are allowed; " + std::to_string(all.graphs / runs) + " graphs, " + std::to_string(all.allocations) +
               " allocations, " + std::to_string(all.waits / runs) + " waits");
}

void training(const std::string& name, const std::function<operation(const tensor<float>&)>& minimize,
              int most_kernels) {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    const auto h = relu(dense<10, 10>("two", relu(dense<4, 10>("one", x))));
    const tensor<float> loss = reduce_mean(sparse_softmax_cross_entropy(dense<10, 3>("three", h), label));
    const auto step = minimize(loss);
    const session s;
    s.run(global_variables_initializer());
    const auto call = s.make_callable(step, x, label);
    std::vector<float> xs(128);
    std::vector<int> ids(32);
    check_step("a training step of 4-10-10-3 by " + name, [&] { call(xs, ids); }, most_kernels);
}

void chain() {
    const graph g;
    const graph_scope here(g);
    const variable<float, 100000> x("x", constant_initializer(1.f));
    const tensor y(0.5f * x * (1.f + tanh(0.79788456f * (x + 0.044715f * x * x * x))) + 0.1f * x);
    const session s;
    s.run(global_variables_initializer());
    const auto call = s.make_callable(operation(y));
    check_step("a chain of 11 operations", [&] { call(); }, 11);
}

/// Each file of the library has sticky errors of its own. A division and the kernel that looks for zeros among its divisors are of one file.
void divisions() {
    const graph g;
    const graph_scope here(g);
    placeholder<int, dyn> a("a"), b("b");
    const session s;
    const std::vector<int> ones(5, 1);
    for (const auto& y : {tensor<int, dyn>(a / b), tensor<int, dyn>(mod(a, b)), tensor<int, dyn>(floordiv(a, b))}) {
        fake_cuda::reset();
        s.run(y, feed(a, ones), feed(b, ones));
        expect(fake_cuda::counted().launches == 2 && fake_cuda::files() == 1,
               "an integer division is two kernels of one file");
    }
}

/// An op of the program, whose kernel g++ compiled for the CPU.
struct doubled_op {
    static constexpr auto name = "Doubled";
    using domain_type = domains::real_floating;
    template <class V> RILL_FN static V value(const V& x) { return x + x; }
    template <class V> RILL_FN static auto pullback(const V&, const V& g, const V&) { return g + g; }
};
struct first_op {
    static constexpr auto name = "First";
    using domain_type = domains::real_floating;
    static constexpr auto no_gradient = "it reads one element";
    constexpr shape_result shape(const dims&) const { return {dims{}}; }
    template <class D, class T> kernel bind(kernel_request&) const {
        return kernel([](const kernel_args& a) { *a.out<T>(0) = *a.in<T>(0); });
    }
};

/// Nodes without kernels for the GPU run on the CPU: ops of the program itself, and element types that the library leaves out.
void nodes_of_the_program() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    placeholder<half, dyn> z("z");
    const auto where = std::source_location::current();
    const auto twice = tensor(apply<doubled_op>(x) + 0.f, "twice");
    const auto first = apply_node(first_op(), [](const dims&) { return shape_result{dims{}}; }, where, x);
    const auto of_half = tensor(z * z, "of_half");
    std::vector<std::string> placed;
    set_log_sink([&](log_level, std::string_view line) { placed.emplace_back(line); });
    const session s({.log_device_placement = true});
    const std::vector<float> value{3, 1};
    const std::vector<half> halves{half(3.f), half(1.f)};
    expect(s.run(twice, feed(x, value))(0) == 6, "an elementwise op of the program runs on the CPU");
    expect(s.run(first, feed(x, value)) == 3.f, "so does another op of it");
    expect(float(s.run(of_half, feed(z, halves))(0)) == 9, "so does an expression of halves");
    set_log_sink({});
    for (const auto& line : placed) std::printf("%s\n", line.c_str());
    const auto pinned = [&] {
        const device_scope there("/gpu:0");
        return apply_node(first_op(), [](const dims&) { return shape_result{dims{}}; }, where, x);
    }();
    std::string words;
    try {
        s.run(pinned, feed(x, value));
    } catch (const invalid_argument& problem) {
        words = problem.what();
    }
    expect(words.find("no kernel of the op") != std::string::npos && words.find("CPU") != std::string::npos,
           "one that asks for the GPU is refused: " + words);
}

} // namespace

int main() {
    expect(default_device().name == "gpu", "a GPU is found, and is the default");
    training("gradient descent", [](const auto& loss) { return gradient_descent(0.01f).minimize(loss); }, 40);
    training("Adam", [](const auto& loss) { return adam(0.01f).minimize(loss); }, 40);
    chain(), divisions(), nodes_of_the_program();
    return problems ? 1 : 0;
}
