// SPDX-License-Identifier: BSD-3-Clause
// The device "gpu" against what the card can do: `make bench-gpu` compiles and runs this on a machine with a card (docs/gpu.md). Each row is
// one line: its name, the median microseconds of a run, and what that is in GB/s or TFLOP/s. Arguments name the rows wanted; without any,
// all are. bench/peers/gpu.py has the same rows in PyTorch and JAX.
#include <rill/rill.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace rill;

namespace {

constexpr index_t many = 100'000'000; // elements of the large rows

std::vector<std::string> wanted_rows;

bool is_wanted(const std::string& name) { return wanted_rows.empty() || std::ranges::count(wanted_rows, name) > 0; }

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns the median seconds of one run, over five batches of 0.1 s. Runs wait until the GPU is done.
double measure(const std::function<void()>& run) {
    for (int i = 0; i < 3; ++i) run();
    const int count = std::max(1, static_cast<int>(0.1 / seconds_of(run)));
    std::vector<double> batches;
    for (int b = 0; b < 5; ++b)
        batches.push_back(seconds_of([&] {
            for (int i = 0; i < count; ++i) run();
        }));
    std::nth_element(batches.begin(), batches.begin() + 2, batches.end());
    return batches[2] / count;
}

void print_row(const std::string& name, double seconds, double bytes = 0, double flops = 0) {
    std::printf("%-28s %12.2f us", name.c_str(), seconds * 1e6);
    if (bytes > 0) std::printf(" %9.1f GB/s", bytes / seconds / 1e9);
    if (flops > 0) std::printf(" %9.2f TFLOP/s", flops / seconds / 1e12);
    std::printf("\n");
    std::fflush(stdout);
}

/// Measures a row in a graph of its own. `build` adds the nodes and returns what runs them in a session.
void row(const std::string& name, double bytes, double flops,
         const std::function<std::function<void()>(const std::shared_ptr<session>&)>& build) {
    if (!is_wanted(name)) return;
    try {
        const graph g;
        const graph_scope here(g);
        const auto s = std::make_shared<session>();
        const auto run = build(s);
        print_row(name, measure(run), bytes, flops);
    } catch (const std::exception& problem) { // other rows may still run
        std::printf("%-28s failed: %s\n", name.c_str(), problem.what());
    }
}

/// Returns a run that computes a value and leaves it on the GPU.
std::function<void()> computed(const std::shared_ptr<session>& s, const operation& value) {
    s->run(global_variables_initializer());
    return [s, call = s->make_callable(value)] { call(); };
}

template <class X> auto chain(const X& x) { // 11 operations
    return 0.5f * x * (1.f + tanh(0.79788456f * (x + 0.044715f * x * x * x))) + 0.1f * x;
}

const auto drawn = random_uniform({.minval = -1, .maxval = 1, .seed = 7});

void measure_copy() {
    if (!is_wanted("copy_1e8")) return;
    void *from = nullptr, *to = nullptr;
    constexpr std::size_t bytes = many * sizeof(float);
    if (cudaMalloc(&from, bytes) != cudaSuccess || cudaMalloc(&to, bytes) != cudaSuccess) return;
    cudaMemset(from, 1, bytes);
    print_row("copy_1e8", measure([&] {
                  cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice);
                  cudaDeviceSynchronize();
              }),
              2. * bytes);
    cudaFree(from), cudaFree(to);
}

void measure_elements() {
    row("chain_1e8", 8. * many, 0, [](const auto& s) {
        const variable<float, many> x("x", drawn);
        return computed(s, tensor(chain(x)));
    });
    row("chain_grad_1e8", 8. * many, 0, [](const auto& s) {
        const variable<float, many> x("x", drawn);
        return computed(s, std::get<0>(gradients(reduce_sum(chain(x)), x)));
    });
    row("sum_abcd_1e8", 16. * many, 0, [](const auto& s) {
        const variable<float, many> a("a", drawn), b("b", drawn), c("c", drawn), d("d", drawn);
        const auto y = reduce_sum(a * b + c * d);
        s->run(global_variables_initializer());
        return [s, call = s->make_callable(y)] { call(); };
    });
    row("sum_columns_1e4x1e4", 4e8, 0, [](const auto& s) {
        const variable<float, 10'000, 10'000> x("x", drawn);
        return computed(s, tensor(reduce_sum<0>(x)));
    });
    row("sum_rows_1e4x1e4", 4e8, 0, [](const auto& s) {
        const variable<float, 10'000, 10'000> x("x", drawn);
        return computed(s, tensor(reduce_sum<1>(x)));
    });
    row("softmax_8192x1024", 2. * 4 * 8192 * 1024, 0, [](const auto& s) {
        const variable<float, 8192, 1024> x("x", drawn);
        return computed(s, softmax(x));
    });
}

template <index_t N> void measure_product() {
    row("matmul_" + std::to_string(N), 0, 2. * N * N * N, [](const auto& s) {
        const variable<float, N, N> a("a", drawn), b("b", drawn);
        return computed(s, matmul(a, b));
    });
}

template <class Loss, class X, class Label>
std::function<void()> training(const std::shared_ptr<session>& s, const Loss& logits, const X& x, const Label& label,
                               const auto& optimizer, index_t batch, index_t features, int classes) {
    const auto train = optimizer.minimize(reduce_mean(sparse_softmax_cross_entropy(logits, label)));
    s->run(global_variables_initializer());
    std::vector<float> xs(static_cast<std::size_t>(batch * features));
    for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(i * 37 % 101) / 101.f - 0.5f;
    std::vector<int> ids(static_cast<std::size_t>(batch));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i) * 7 % classes;
    return [s, step = s->make_callable(train, x, label), xs, ids] { step(xs, ids); };
}

void measure_steps() {
    row("empty_run", 0, 0, [](const auto& s) {
        const placeholder<float> x("x");
        return [s, call = s->make_callable(identity(x), x)] { call(1.f); };
    });
    row("mlp_4_10_10_3", 0, 0, [](const auto& s) {
        const placeholder<float, dyn, 4> x("x");
        const placeholder<int, dyn> label("label");
        const auto h = relu(dense<10, 10>("two", relu(dense<4, 10>("one", x))));
        return training(s, dense<10, 3>("three", h), x, label, gradient_descent(0.01f), 32, 4, 3);
    });
    row("mlp_784_512_512_10_adam", 0, 0, [](const auto& s) {
        const placeholder<float, dyn, 784> x("x");
        const placeholder<int, dyn> label("label");
        const auto h = relu(dense<512, 512>("two", relu(dense<784, 512>("one", x))));
        return training(s, dense<512, 10>("three", h), x, label, adam({.learning_rate = 0.001}), 128, 784, 10);
    });
}

} // namespace

int main(int argc, char** argv) {
    wanted_rows.assign(argv + 1, argv + argc);
    if (the_gpus().empty()) {
        std::printf("no GPU\n");
        return 77;
    }
    measure_copy();
    measure_elements();
    measure_product<4096>();
    measure_product<1024>();
    measure_steps();
}
