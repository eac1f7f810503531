// SPDX-License-Identifier: BSD-3-Clause
// Convolutions by cuDNN beside our own kernels, on a card: they must agree, and be the same from run to run. The times of both are printed.
#include <rill/gpu.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace gpu_test {

using namespace rill;

struct backend_without_library : cuda_backend {
    template <class T> static bool has_convolutions() = delete;
};
struct without_library : thrust_device<without_library, backend_without_library> {
    static constexpr std::string_view type = "without_library";
};

int problems = 0;

/// Elements in the memory of the card.
template <class T> struct card_array {
    T* at = nullptr;
    std::size_t n;

    explicit card_array(index_t count) : n(static_cast<std::size_t>(count)) {
        detail::check_cuda(cudaMalloc(reinterpret_cast<void**>(&at), std::max<std::size_t>(n, 1) * sizeof(T)),
                           "memory");
    }
    card_array(index_t count, unsigned seed) : card_array(count) {
        std::vector<T> drawn(n);
        for (auto& x : drawn) {
            seed = seed * 1664525u + 1013904223u;
            x = static_cast<T>(static_cast<float>(seed >> 8) / 8388608.f - 1.f);
        }
        detail::check_cuda(cudaMemcpy(at, drawn.data(), n * sizeof(T), cudaMemcpyHostToDevice), "a copy");
    }
    card_array(const card_array&) = delete;
    ~card_array() { cudaFree(at); }
    std::vector<double> read() const {
        std::vector<T> values(n);
        detail::check_cuda(cudaMemcpy(values.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost), "a copy");
        std::vector<double> wide;
        for (const T& x : values) wide.push_back(static_cast<double>(x));
        return wide;
    }
};

/// The elements that a device computes, the same of a second run, and the microseconds of the fastest run.
struct measured {
    std::vector<double> values, again;
    float microseconds = 1e9f;
};
template <class D, class T> measured run(convolution_part part, const convolution_shape& s) {
    const auto& card = *the_gpus().at(0);
    const detail::kernels_on here(card);
    const index_t n_x = s.window.batch * s.window.pixels() * s.in, n_f = s.window.positions() * s.in * s.out,
                  n_y = s.window.batch * s.window.windows() * s.out;
    const card_array<T> x(n_x, 1), f(n_f, 2), g(n_y, 3), row(s.out, 4),
        to(part == convolution_part::forward ? n_y
           : part == convolution_part::input ? n_x
                                             : n_f);
    const card_array<char> scratch(static_cast<index_t>(D::template convolution_scratch<T>({}, part, s)));
    execution_context on;
    on.scratch = scratch.at;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    measured made;
    for (int i = 0; i < 6; ++i) {
        cudaMemset(to.at, 0xff, to.n * sizeof(T)); // NaN
        cudaDeviceSynchronize();
        cudaEventRecord(begin, card.stream());
        switch (part) {
        case convolution_part::forward: D::convolve(on, s, x.at, f.at, to.at, {row.at, true}); break;
        case convolution_part::input: D::convolve_input(on, s, f.at, g.at, to.at); break;
        case convolution_part::filter: D::convolve_filter(on, s, x.at, g.at, to.at); break;
        }
        cudaEventRecord(end, card.stream());
        detail::check_cuda(cudaDeviceSynchronize(), "a convolution");
        float milliseconds = 0;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (i > 0) made.microseconds = std::min(made.microseconds, milliseconds * 1000);
        if (i == 0) made.values = to.read();
    }
    made.again = to.read();
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return made;
}

template <class T> void compare(const std::string& name, const convolution_shape& s) {
    constexpr std::array parts{"forward", "by the image", "by the filter"};
    for (const auto part : {convolution_part::forward, convolution_part::input, convolution_part::filter}) {
        const auto own = run<without_library, T>(part, s), by = run<gpu, T>(part, s);
        double largest = 0, apart = 0;
        for (std::size_t i = 0; i < own.values.size(); ++i) {
            largest = std::max(largest, std::abs(own.values[i]));
            const double d = std::abs(own.values[i] - by.values[i]);
            apart = std::isnan(d) ? 1e9 : std::max(apart, d);
        }
        const auto even = detail::evenly_padded(s);
        const detail::kernels_on here(*the_gpus().at(0));
        const bool library = even && gpu_instance::of(*the_gpus().at(0)).card().convolutions().serves<T>(part, *even);
        const bool good = apart <= (sizeof(T) == 2 ? 2e-2 : 1e-5) * largest && by.values == by.again;
        problems += good ? 0 : 1;
        std::printf("%s: %s, %s: %s %.1f us, own kernels %.1f us; apart by %.1e of at most %.1e%s\n",
                    good ? "ok" : "WRONG", name.c_str(), parts[static_cast<std::size_t>(part)],
                    library ? "cuDNN" : "no cuDNN", by.microseconds, own.microseconds, apart, largest,
                    by.values == by.again ? "" : "; it varies");
    }
}

convolution_shape square(index_t batch, index_t side, index_t in, index_t out, index_t size, index_t stride = 1,
                         index_t dilation = 1) {
    window w;
    w.strides = {stride};
    w.dilations = {dilation};
    w.padding = padding::same;
    const auto axis = rules::place_window(side, size, w, 0, 1).axis;
    return {{{window_axis{}, axis, axis}, batch}, in, out};
}

} // namespace gpu_test

int main() {
    using namespace gpu_test;
    if (the_gpus().empty()) {
        std::printf("no GPU\n");
        return 77;
    }
    std::printf("%s\n", detail::convolution_library::is_found<float>() ? "cuDNN is found" : "cuDNN is not found");
    compare<float>("28 x 28 x 1 to 32, 5 x 5", square(64, 28, 1, 32, 5));
    compare<float>("14 x 14 x 32 to 64, 5 x 5", square(64, 14, 32, 64, 5));
    compare<float>("56 x 56 x 64 to 64, 3 x 3", square(32, 56, 64, 64, 3));
    compare<float>("56 x 56 x 64 to 128, 3 x 3, strides of 2", square(32, 56, 64, 128, 3, 2));
    compare<float>("112 x 112 x 3 to 64, 7 x 7, strides of 2", square(16, 112, 3, 64, 7, 2));
    compare<float>("28 x 28 x 256 to 64, 1 x 1", square(32, 28, 256, 64, 1));
    compare<float>("33 x 33 x 16 to 24, 3 x 3, dilations of 2", square(8, 33, 16, 24, 3, 1, 2));
    compare<rill::half>("56 x 56 x 64 to 64, 3 x 3, half", square(32, 56, 64, 64, 3));
    compare<rill::bfloat16>("56 x 56 x 64 to 128, 3 x 3, strides of 2, bfloat16", square(32, 56, 64, 128, 3, 2));
    compare<double>("14 x 14 x 32 to 64, 5 x 5, double", square(8, 14, 32, 64, 5));
    return problems ? 1 : 0;
}
