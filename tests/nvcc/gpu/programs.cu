// SPDX-License-Identifier: BSD-3-Clause
// Programs on the device "gpu" beside the CPU. `make check` compiles this file; `make gpu` runs it on a machine with a card. It exits with 77
// where there is no GPU, after it has seen that such a program starts and runs on the CPU.
#include <array>
#include <atomic>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "common.hpp"

using namespace rill;

static_assert(device_primitives<gpu>);

namespace gpu_test {

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

/// Has nvcc compile every primitive for one element type. Never called.
template <class T> void compile_primitives() {
    const execution_context on;
    T* y = nullptr;
    const T* x = nullptr;
    const std::int64_t* ids = nullptr;
    std::int64_t* to = nullptr;
    const random_stream* stream = nullptr;
    const convolution_shape s;
    gpu::gemm(on, false, false, 1, 1, 1, x, x, y);
    gpu::convolve(on, s, x, x, y);
    gpu::convolve_input(on, s, x, x, y);
    gpu::convolve_filter(on, s, x, x, y);
    gpu::depthwise_convolve(on, s, x, x, y);
    gpu::depthwise_convolve_input(on, s, x, x, y);
    gpu::depthwise_convolve_filter(on, s, x, x, y);
    gpu::max_pool(on, s.window, 1, x, y);
    gpu::max_pool_gradient(on, s.window, 1, x, x, x, y);
    gpu::max_pool_gather(on, s.window, 1, x, x, x, y);
    gpu::average_pool(on, s.window, 1, x, y);
    gpu::average_pool_gradient(on, s.window, 1, x, y);
    gpu::image_patches(on, s.window, 1, x, y);
    gpu::image_patches_gradient(on, s.window, 1, x, y);
    gpu::copy(on, x, y, detail::strided_layout());
    gpu::add(on, x, y, detail::strided_layout());
    gpu::copy(on, dtype::float32, x, y, 1);
    gpu::gather(on, x, ids, y, 1, 1, 1, 1);
    gpu::scatter_add(on, x, ids, y, 1, 1, 1, 1);
    gpu::one_hot(on, ids, y, 1, 1, 1, T(1), T(0));
    gpu::fill(on, 1, y, T(1));
    gpu::flat_indices(on, ids, to, 1, dims{2}, detail::zero_division());
    gpu::gather_rows(on, x, ids, y, 1, dims{2}, 1, detail::zero_division());
    gpu::combine_segments<combine::sum>(on, x, ids, y, 1, 1, 1, T(0), detail::zero_division());
    gpu::combine_segments<combine::max>(on, x, ids, y, 1, 1, 1, T(0), detail::zero_division());
    gpu::gather_segments(on, x, ids, y, 1, 1);
    gpu::quantized_convolve<quint8>(on, s, nullptr, nullptr, {x, x, x, x}, nullptr);
    gpu::arg_extreme<true>(on, x, to, 1, 1, 1);
    gpu::top_k(on, x, y, nullptr, 1, 1, 1);
    gpu::scan<combine::sum>(on, x, y, 1, 1, 1, false, false);
    gpu::linear_recurrence(on, x, x, y, 1, 1, 1, false);
    gpu::random_uniform(on, 1, stream, 0, 1, y);
    gpu::random_normal(on, 1, stream, 0, 1, y);
    gpu::truncated_normal(on, 1, stream, 0, 1, y);
    gpu::random_gamma(on, 1, stream, 1, 1, y);
    gpu::random_poisson(on, 1, stream, 1, y);
    gpu::multinomial(on, x, 1, 1, 1, stream, to, detail::zero_division());
    gpu::shuffle(on, dtype::float32, x, y, 1, 1, stream);
}

#ifdef RILL_TEST_ALL // programs that take nvcc more memory than a machine without a GPU may have

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

/// Sums, extremes and softmax of shapes that take one thread, a warp, a block or many parts for a result.
void reductions() {
    using extents = std::array<std::size_t, 2>;
    for (const extents& shape :
         {extents{3, 700}, extents{700, 3}, extents{300, 2000}, extents{200'000, 4}, extents{1, 1'500'000}})
        on_both("reductions of " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]), [&] {
            placeholder<float, dyn, dyn> x("x");
            const session s;
            const auto value = drawn(shape[0], shape[1], 9);
            numbers got;
            const auto add = [&](const auto& y) {
                for (const double v : values_of(s.run(y, feed(x, value)))) got.push_back(v);
            };
            add(reduce_sum(x)), add(reduce_sum<0>(x)), add(reduce_sum<1>(x * x)), add(reduce_mean<0>(x));
            add(reduce_max<0>(x)), add(reduce_min<1>(x)), add(reduce_mean(cast<int>(x * 1000.f)));
            add(reduce_max<1>(softmax(x))), add(reduce_sum<0>(log_softmax(x)));
            return got;
        });
}

void products() {
    for (const bool missing : {false, true})
        on_both(std::string("products, bias and relu") + (missing ? ", with a NaN" : ""), [&] {
            placeholder<float, dyn, 53> x("x");
            variable<float, 53, 29> w("w", glorot_uniform(3));
            variable<float, 29> b("b", constant_initializer(0.1));
            const auto y = relu(matmul(x, w) + b);
            const auto [dx, dw, db] = gradients(reduce_sum(square(y)), x, w, b);
            const session s;
            s.run(global_variables_initializer());
            auto value = drawn(37, 53, 4);
            if (missing) value(3, 5) = std::numeric_limits<float>::quiet_NaN();
            numbers got;
            const auto add = [&](const auto& z) {
                for (const double v : values_of(s.run(z, feed(x, value)))) got.push_back(v);
            };
            add(y), add(dx), add(dw), add(db), add(cast<float>(matmul(cast<double>(x), cast<double>(w))));
            return got;
        });
}

void orders() {
    on_both("the largest of long rows, and ids that come twice", [] {
        placeholder<float, dyn, dyn> x("x");
        placeholder<int, dyn> ids("ids");
        variable<float, 50, 8> table("table", constant_initializer(0.5f));
        const auto [values, places] = top_k<7>(x);
        const auto step = adagrad(0.1f).minimize(reduce_mean(square(gather<0>(table, ids) - 1.f)));
        const session s;
        s.run(global_variables_initializer());
        numbers got;
        for (const double v : values_of(s.run(values, feed(x, drawn(3, 3000, 8))))) got.push_back(v);
        for (int i = 0; i < 20; ++i) s.run(step, feed(ids, {i, 7, i + 1, 7, 49, i}));
        for (const double v : values_of(s.run(table))) got.push_back(v);
        return got;
    });
}

void loops() {
    on_both("a loop, a branch and their gradients", [] {
        placeholder<float> x("x");
        const auto ended = while_loop([](auto i, auto) { return i < 20; },
                                      [&](auto i, auto v) { return std::tuple(i + 1, sin(v * x)); }, 0, 1.f);
        const auto count = std::get<0>(ended);
        const auto y = std::get<1>(ended);
        const auto z = cond(y > 0.f, [&] { return y * 2.f; }, [&] { return -y; });
        const auto [slope] = gradients(z, x);
        const session s;
        const auto [a, b, c] = s.run(std::tuple(count, z, slope), feed(x, 1.3f));
        return numbers{double(a), a + double(b), double(c)};
    });
}

void threads() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto y = reduce_sum(x * 2.f);
    const session s;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&, t] {
            for (int i = 0; i < 250; ++i) {
                const std::vector<float> value(static_cast<std::size_t>(1 + (i + t) % 5), static_cast<float>(i));
                if (s.run(y, feed(x, value)) != 2.f * static_cast<float>(i) * static_cast<float>(value.size())) ++wrong;
            }
        });
    for (auto& t : all) t.join();
    expect(wrong == 0, "four threads run one session, " + std::to_string(wrong) + " wrong results");
}

#endif

/// Devices are listed, and a node that asks for a GPU runs there, or, where there is none, is an error or runs on the CPU.
void check_placement() {
    const graph g;
    const graph_scope here(g);
    placeholder<float, dyn> x("x");
    const auto y = [&] {
        const device_scope there("/device:gpu:0");
        return sealed(x + 1.f);
    }();
    const session strict, soft({.allow_soft_placement = true});
    std::size_t listed = 0;
    for (const auto& d : strict.devices()) listed += d.type == "gpu" ? 1 : 0;
    expect((listed > 0) == !the_gpus().empty(), std::to_string(listed) + " devices 'gpu' are listed");
    expect(values_of(soft.run(y, feed(x, {1, 2}))) == numbers{2, 3}, "soft placement");
    std::string words;
    try {
        expect(values_of(strict.run(y, feed(x, {1, 2}))) == numbers{2, 3}, "a node on a GPU");
    } catch (const error& problem) {
        words = problem.what();
    }
    expect(words.empty() == !the_gpus().empty(), "what a node is told that asks for a GPU: " + words);
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
    variable<int, 2> v("v", constant_initializer(6));
    placeholder<int, dyn> by("by");
    const auto divided = group(v.assign(reshape<2>(v / by)));
    s.run(global_variables_initializer());
    words.clear();
    try {
        s.run(divided, feed(by, {2, 0}));
    } catch (const error& problem) {
        words = problem.what();
    }
    expect(words.find("division by zero") != std::string::npos, "a division by zero is told: " + words);
    expect(values_of(s.run(v)) == numbers{6, 6}, "the variable keeps its value");
    s.run(divided, feed(by, {2, 3}));
    expect(values_of(s.run(v)) == numbers{3, 2}, "and takes the next one");
}

} // namespace gpu_test

int main() {
    using namespace gpu_test;
    std::printf("%zu GPUs\n", the_gpus().size());
    [[maybe_unused]] static void (*volatile const held)() = &compile_primitives<float>;
    classifier(), check_placement(), errors();
#ifdef RILL_TEST_ALL
    images(), nodes(), reductions(), products(), orders(), loops(), threads();
#endif
    if (problems) return 1;
    return the_gpus().empty() ? 77 : 0;
}
