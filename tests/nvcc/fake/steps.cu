// SPDX-License-Identifier: BSD-3-Clause
// The calls of CUDA's runtime by a step on the GPU, counted by a runtime of our own (runtime.hpp): no card is needed, and no kernel runs. A
// step that has run before allocates nothing, waits once, and starts the same kernels each time: one by one, or as one CUDA graph.
#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/rill.hpp>

#if __has_include(<cudnn.h>)
#include "cudnn.hpp"
#endif
#include "expect.hpp"
#include "runtime.hpp"

using namespace rill;
using fake_cuda::expect;
using fake_cuda::problems;

static_assert(detail::has_device_kernel<gpu, assign_op, void>()); // one for all types
static_assert(detail::has_device_kernel<gpu, matmul_op, float>());
static_assert(!detail::has_device_kernel<gpu, matmul_op, std::complex<float>>());
static_assert(!detail::has_device_kernel<gpu, matrix_inverse_op, float>());

namespace {

/// Runs a step until it is bound and captured, then many times, and counts. With `graphs`, all kernels of a run start by so many graphs.
void check_step(const std::string& name, const std::function<void()>& run, int waits, int most_launches,
                int graphs = 0) {
    for (int i = 0; i < 8; ++i) run();
    constexpr int runs = 50;
    fake_cuda::reset();
    for (int i = 0; i < runs; ++i) run();
    const auto all = fake_cuda::counted();
    const int copies = all.copies_in + all.copies_out + all.copies_within;
    const int kernels = static_cast<int>(fake_cuda::started().size()) - copies;
    const auto each = [&](int n) { return std::to_string(n / runs) + (n % runs ? "…" : ""); };
    const std::string said = name + ": " + each(kernels) + " kernels, " + each(all.launches) + " of them alone, " +
                             each(all.graphs) + " graphs, " + each(all.copies_in) + " copies to the card, " +
                             each(all.copies_out) + " from it, " + each(all.waits) + " waits, " +
                             std::to_string(all.allocations) + " allocations";
    expect(all.allocations == 0 && all.releases == 0 && all.captures == 0 && all.waits == waits * runs &&
               kernels % runs == 0 && kernels > 0 && kernels / runs <= most_launches && all.graphs == graphs * runs &&
               all.launches == (graphs ? 0 : kernels),
           said + "; at most " + std::to_string(most_launches) + " kernels are allowed");
}

/// The kernels of one run, and how they were started.
struct one_run {
    fake_cuda::counts calls;
    std::vector<fake_cuda::launch> kernels;
};
one_run counted(const std::function<void()>& run) {
    fake_cuda::reset();
    run();
    one_run made{fake_cuda::counted(), {}};
    for (const auto& one : fake_cuda::started())
        if (one.kernel) made.kernels.push_back(one);
    return made;
}

/// Returns the first difference between two lists of kernels: their lengths, or the numbers of the kernel, the argument and the byte.
std::string difference(const std::vector<fake_cuda::launch>& a, const std::vector<fake_cuda::launch>& b) {
    if (a.size() != b.size()) return std::to_string(a.size()) + " and " + std::to_string(b.size()) + " kernels";
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k] == b[k]) continue;
        std::string where = "kernel " + std::to_string(k);
        for (std::size_t n = 0; n < std::min(a[k].arguments.size(), b[k].arguments.size()); ++n) {
            const auto &x = a[k].arguments[n], &y = b[k].arguments[n];
            if (x == y) continue;
            const auto at = std::mismatch(x.begin(), x.end(), y.begin(), y.end()).first - x.begin();
            where += ", argument " + std::to_string(n) + ", byte " + std::to_string(at);
        }
        return where;
    }
    return "none";
}

/// Runs a step until it is replayed: the kernels of a replay must be those that a traced run starts one by one, with the same arguments.
void check_replay(const std::string& name, const std::function<void()>& run, const std::function<void()>& traced,
                  int graphs) {
    one_run captured;
    int runs = 0;
    for (; runs < 8 && captured.calls.graphs == 0; ++runs) captured = counted(run);
    const auto alone = counted(traced), replayed = counted(run);
    std::size_t bytes = 0;
    for (const auto& one : alone.kernels)
        for (const auto& argument : one.arguments) bytes += argument.size();
    expect(alone.calls.graphs + alone.calls.captures == 0 &&
               alone.calls.launches == static_cast<int>(alone.kernels.size()),
           name + ": a traced run starts its kernels one by one");
    const std::string apart = difference(alone.kernels, captured.kernels),
                      later = difference(alone.kernels, replayed.kernels);
    expect(captured.calls.graphs == graphs && captured.calls.launches == 0 && apart == "none" &&
               bytes > 24 * alone.kernels.size(),
           name + ": run " + std::to_string(runs) + " starts " + std::to_string(captured.calls.graphs) +
               " graphs, with the " + std::to_string(alone.kernels.size()) + " kernels and " + std::to_string(bytes) +
               " bytes of arguments of a run without graphs; differences: " + apart);
    expect(replayed.calls.graphs == graphs && replayed.calls.captures == 0 && replayed.calls.launches == 0 &&
               later == "none",
           name + ": so does the next run, which captures nothing; differences: " + later);
}

void training() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn, 4> x("x");
    placeholder<int, dyn> label("label");
    const auto h = relu(dense<10, 10>("two", relu(dense<4, 10>("one", x))));
    const auto loss = reduce_mean(sparse_softmax_cross_entropy(dense<10, 3>("three", h), label));
    const auto step = gradient_descent(0.01f).minimize(loss);
    std::vector<float> xs(128);
    std::vector<int> ids(32);
    for (const bool graphs : {false, true}) {
        const session s({.gpu = {.cuda_graphs = graphs}});
        s.run(global_variables_initializer());
        const auto call = s.make_callable(step, x, label);
        const auto run = [&] { s.run(step, feed(x, xs), feed(label, ids)); };
        const auto traced = [&] { s.run_traced(step, feed(x, xs), feed(label, ids)); };
        const std::string name = graphs ? "a captured training step of 4-10-10-3" : "a training step of 4-10-10-3";
        if (graphs) check_replay(name, run, traced, 1);
        check_step(name, run, 1, 33, graphs);
        int rows = 16;
        check_step(
            "the same with batches of two sizes",
            [&] {
                rows = 80 - rows; // 64 and 16
                const auto n = static_cast<std::size_t>(rows);
                call(std::vector<float>(n * 4), std::vector<int>(n));
            },
            1, 33, graphs);
        if (!graphs) continue;
        // a run that reads a variable holds it: the next step writes to another block, for which the step is captured anew
        const auto weights = trainable_variables()[0];
        for (int i = 0; i < 2; ++i) {
            s.run(weights);
            const auto beside = counted(run);
            const auto before = beside.calls.graphs + beside.calls.captures;
            expect(before == 0, name + ": a write beside a reader is not captured");
        }
        check_replay(name + ", with a variable elsewhere", run, traced, 1);
    }
}

#if __has_include(<cudnn.h>)
/// Convolutions by a cuDNN of ours: the first run chooses algorithms, and a captured one takes them.
void convolutions() {
    void* const library = dlopen("libcudnn.so.9", RTLD_NOW);
    void* const counts = library ? dlsym(library, "fake_cudnn_counts") : nullptr;
    if (!counts) return void(std::printf("no cuDNN of ours is found\n"));
    const auto* const cudnn = reinterpret_cast<decltype(&fake_cudnn_counts)>(counts)();
    const window_axis more_behind{8, 4, 3, 2, 1, 0}, even{7, 4, 3, 2, 1, 1};
    const convolution_shape s{{{window_axis{}, more_behind, even}, 2}, 3, 4};
    const auto& card = *the_gpus().at(0);
    const detail::kernels_on here(card);
    void* memory = nullptr;
    cudaMalloc(&memory, 1 << 20);
    auto* const all = static_cast<float*>(memory);
    execution_context on;
    on.scratch = all + (1 << 16);
    const auto run = [&] {
        gpu::convolve<float>(on, s, all, all, all, {all, true}); // a fill, two copies, the epilogue
        gpu::convolve_input<float>(on, s, all, all, all);        // two copies
        gpu::convolve_filter<float>(on, s, all, all, all);       // a fill, two copies
    };
    const auto first = counted(run), second = counted(run);
    expect(cudnn->handles == 1 && cudnn->choices == 3 && cudnn->convolutions == 6 && second.calls.allocations == 0 &&
               second.calls.launches == 9 && second.calls.waits == 0,
           "convolutions by a library: " + std::to_string(second.calls.launches) + " kernels of ours, " +
               std::to_string(first.calls.allocations) + " allocations of the first run, " +
               std::to_string(second.calls.allocations) + " of the second");
    const auto usual = cudnn->stream;
    const auto replay = detail::captured_kernels::capture(card.card(), run);
    expect(cudnn->choices == 3 && cudnn->convolutions == 9 && cudnn->stream != usual,
           "they are captured in the stream of the capture");
    expect(replay && difference(counted(replay).kernels, second.kernels) == "none", "the replay has the same kernels");
    run();
    expect(cudnn->stream == usual, "later ones start in the stream of the card");
    cudaFree(memory);
}
#endif

/// A step of the host divides a run into two captured ranges.
void divided() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto a = cumsum<0>(tensor(exp(x)));
    const auto b = [&] {
        const device_scope host("/cpu:0");
        return tensor(cumsum<0>(a) * 0.5f);
    }();
    const auto y = cumsum<0>(tensor(b * 2.f));
    const session s;
    const std::vector<float> value(100);
    const auto run = [&] { s.run(y, feed(x, value)); };
    check_replay("a step with a node of the CPU", run, [&] { s.run_traced(y, feed(x, value)); }, 2);
    check_step("a step with a node of the CPU", run, 2, 12, 2);
}

/// A while loop is one graph with a WHILE node, a scan one graph with all of its iterations. The host waits before each, for errors, and for
/// its end; and at the end of the run.
void loops() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, 100> x("x");
    const auto last = while_loop([](const auto& v) { return reduce_sum(v) < 100.f; },
                                 [](const auto& v) { return tensor(cumsum<0>(v) * 2.f); }, tensor(x));
    const session s;
    const std::vector<float> value(100);
    const auto run = [&] { s.run(last, feed(x, value)); };
    fake_cuda::hold(2);
    const auto first = counted(run); // two iterations, started by the host
    run();
    const auto replayed = counted(run);
    const auto has = [](const one_run& r, const fake_cuda::launch& kernel) {
        return std::find(r.kernels.begin(), r.kernels.end(), kernel) != r.kernels.end();
    };
    int common = 0;
    for (const auto& kernel : replayed.kernels) common += has(first, kernel);
    expect(first.calls.graphs == 0 && first.calls.waits > 3,
           "a loop of two iterations that the host starts: " + std::to_string(first.calls.waits) + " waits");
    expect(replayed.calls.graphs == 1 &&
               replayed.calls.captures + replayed.calls.launches + replayed.calls.allocations == 0 && common >= 4,
           "a loop that the card runs: 1 graph, " + std::to_string(replayed.kernels.size()) +
               " kernels with one iteration, " + std::to_string(common) + " of them those of the host, " +
               std::to_string(replayed.calls.waits) + " waits");
    check_step("a while loop", run, 3, 11, 1);

    placeholder<float, 20, 100> rows("rows");
    const auto states =
        scan([](const auto& h, const auto& row) { return tensor(cumsum<0>(tensor(h * 0.5f)) + row); }, tensor(x), rows);
    const std::vector<float> values(2000);
    check_step("a scan of 20 rows", [&] { s.run(states, feed(x, value), feed(rows, values)); }, 3, 81, 1);
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

/// A fusion group is one kernel, which NVRTC compiles when the group is bound, if it is found.
void programs() {
    const bool found = detail::nvrtc_problem().empty();
    std::printf("NVRTC: %s\n", found ? "found" : detail::nvrtc_problem().c_str());
    const graph g;
    const graph_scope here(g);
    const variable<float, 1000> x("x", constant_initializer(1.f));
    const tensor y = tanh(x) * 2.f;
    const tensor z = exp(y) + x;
    const session s;
    s.run(global_variables_initializer());
    fake_cuda::reset();
    const auto both = s.make_callable(std::tuple(y, z));
    both();
    expect((fake_cuda::counted().programs == 1) == found,
           std::to_string(fake_cuda::counted().programs) + " programs are compiled");
    check_step("a group of two nodes", [&] { both(); }, 1, found ? 1 : 2, found ? 0 : 1);
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
#if __has_include(<cudnn.h>)
    convolutions();
#endif
    training(), divided(), loops(), chain(), programs(), virtual_devices(), nodes_of_the_cpu(), faults();
    return problems ? 1 : 0;
}
