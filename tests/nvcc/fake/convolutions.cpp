// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of a Thrust device by the library that device/cuda/convolution_library.hpp loads, over a CUDA runtime (runtime.hpp) and a cuDNN
// (cudnn.hpp) of ours, whose memory is the host's. The argument says what is to be found: `library`, or `fallback` where it is missing, has
// another version or lacks functions. Results are those of plain loops either way.
#include <dlfcn.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <rill/device/cuda/convolution_library.hpp>
#include <rill/device/thrust/host_backend.hpp>
#include <rill/device/thrust/thrust_device.hpp>

#include "cudnn.hpp"
#include "runtime.hpp"

using namespace rill;

namespace {

int problems = 0;

void expect(bool good, const std::string& what) {
    if (!good) std::printf("WRONG: %s\n", what.c_str());
    problems += good ? 0 : 1;
}

/// The back end of a card whose memory and kernels are the host's.
struct card_on_host : host_backend<cpp_system> {
    static inline detail::convolution_library library;
    static inline cudaStream_t stream = nullptr;

    template <class T> static bool has_convolutions() { return library.is_found<T>(); }
    template <class T> static bool convolves(convolution_part part, const convolution_shape& s) {
        return library.serves<T>(part, s);
    }
    template <class T>
    static bool convolve(convolution_part part, const convolution_shape& s, const T* a, const T* b, T* c) {
        return library.convolve(part, s, a, b, c, stream);
    }
};
struct card : thrust_device<card, card_on_host> {
    static constexpr std::string_view type = "card";
};

/// One axis of a window, with the zeros behind it.
struct axis {
    index_t in, size, stride = 1, dilation = 1, before = 0, after = 0;

    operator window_axis() const {
        const index_t reach = (size - 1) * dilation + 1;
        return {in, (in + before + after - reach) / stride + 1, size, stride, dilation, before};
    }
};
convolution_shape shape_of(index_t batch, axis y, axis x, index_t in, index_t out, axis z = {1, 1}) {
    return {{{z, y, x}, batch}, in, out};
}

template <class T> struct array {
    std::vector<T> values;
    T* at; // aligned like the blocks of a card

    explicit array(index_t n) : values(static_cast<std::size_t>(n) + 64 / sizeof(T)) {
        const auto place = reinterpret_cast<std::uintptr_t>(values.data());
        at = reinterpret_cast<T*>((place + 63) / 64 * 64);
    }
    array(index_t n, unsigned seed) : array(n) {
        for (index_t i = 0; i < n; ++i) { // multiples of 1/8 from -1.25 to 1.25
            seed = seed * 1664525u + 1013904223u;
            at[i] = static_cast<T>(static_cast<float>(static_cast<int>(seed >> 16) % 11) / 8.f);
        }
    }
    array(const array&) = delete;
};

/// Calls visit(at in x, at in f, at in y) for all products of a convolution, by its definition.
template <class F> void each_product(const convolution_shape& s, const F& visit) {
    const auto& [z, y, x] = s.window.axis;
    for (index_t n = 0; n < s.window.batch; ++n)
        for (index_t w = 0; w < s.window.windows(); ++w)
            for (index_t p = 0; p < s.window.positions(); ++p) {
                const auto from = [](const window_axis& a, index_t o, index_t k) {
                    return o * a.stride - a.before + k * a.dilation;
                };
                const index_t iz = from(z, w / x.out / y.out, p / x.size / y.size),
                              iy = from(y, w / x.out % y.out, p / x.size % y.size), ix = from(x, w % x.out, p % x.size);
                if (iz < 0 || iz >= z.in || iy < 0 || iy >= y.in || ix < 0 || ix >= x.in) continue;
                for (index_t c = 0; c < s.in; ++c)
                    for (index_t o = 0; o < s.out; ++o)
                        visit((((n * z.in + iz) * y.in + iy) * x.in + ix) * s.in + c, (p * s.in + c) * s.out + o,
                              (n * s.window.windows() + w) * s.out + o);
            }
}

fake_cudnn::counts* of_cudnn = nullptr; // null: it was not loaded

/// Runs all parts of a convolution, and compares them with plain loops. `uses`: the number of parts that the library computes.
template <class T> void check(const std::string& name, const convolution_shape& s, int uses, index_t offset = 0) {
    const index_t n_x = s.window.batch * s.window.pixels() * s.in, n_f = s.window.positions() * s.in * s.out,
                  n_y = s.window.batch * s.window.windows() * s.out;
    const array<T> x(n_x + offset, 1), f(n_f, 2), g(n_y, 3), row(s.out, 4), y(n_y), z(n_y), dx(n_x), df(n_f);
    const T* const xs = x.at + offset;
    std::vector<double> wanted_y(static_cast<std::size_t>(n_y)), wanted_dx(static_cast<std::size_t>(n_x)),
        wanted_df(static_cast<std::size_t>(n_f));
    const auto number = [](const T& v) { return static_cast<double>(v); };
    each_product(s, [&](index_t i, index_t j, index_t k) {
        wanted_y[static_cast<std::size_t>(k)] += number(xs[i]) * number(f.at[j]);
        wanted_dx[static_cast<std::size_t>(i)] += number(f.at[j]) * number(g.at[k]);
        wanted_df[static_cast<std::size_t>(j)] += number(xs[i]) * number(g.at[k]);
    });
    const auto apart = [&](const T* got, const std::vector<double>& wanted) {
        double most = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            most = std::max(most, std::abs(number(got[i]) - wanted[i]) / (1 + std::abs(wanted[i])));
        return std::isnan(most) ? 1e9 : most;
    };
    const double allowed = sizeof(T) == 2 ? 0.05 : 1e-5;
    const auto run = [&] {
        const auto with = [&](convolution_part part, const auto& start) {
            const auto bytes = static_cast<index_t>(card::convolution_scratch<T>({}, part, s));
            const array<char> scratch(bytes + 1);
            scratch.at[bytes] = 'x';
            execution_context on;
            on.scratch = scratch.at;
            start(on);
            expect(scratch.at[bytes] == 'x', name + ": the scratch memory is large enough");
        };
        const int before = of_cudnn ? of_cudnn->convolutions : 0;
        with(convolution_part::forward, [&](const auto& on) { card::convolve(on, s, xs, f.at, y.at); });
        with(convolution_part::forward, [&](const auto& on) { card::convolve(on, s, xs, f.at, z.at, {row.at, true}); });
        with(convolution_part::input, [&](const auto& on) { card::convolve_input(on, s, f.at, g.at, dx.at); });
        with(convolution_part::filter, [&](const auto& on) { card::convolve_filter(on, s, xs, g.at, df.at); });
        const int used = of_cudnn ? of_cudnn->convolutions - before : 0;
        const int expected = of_cudnn ? uses + (uses > 0 && offset == 0) : 0; // twice forward
        expect(used == expected, name + ": " + std::to_string(used) + " convolutions by the library");
        expect(apart(y.at, wanted_y) < allowed, name + ": the result");
        expect(apart(dx.at, wanted_dx) < allowed, name + ": the gradient by the image");
        expect(apart(df.at, wanted_df) < allowed, name + ": the gradient by the filter");
        std::vector<double> finished = wanted_y;
        for (std::size_t i = 0; i < finished.size(); ++i)
            finished[i] = std::max(0., finished[i] + number(row.at[i % static_cast<std::size_t>(s.out)]));
        expect(apart(z.at, finished) < allowed, name + ": with bias and relu");
    };
    run();
    fake_cuda::reset();
    const int choices = of_cudnn ? of_cudnn->choices : 0;
    run();
    expect(fake_cuda::counted().allocations == 0 && (!of_cudnn || of_cudnn->choices == choices),
           name + ": a second run allocates and chooses nothing");
}

template <class T> void check_all(const std::string& type, bool has_type) {
    const auto of = [&](const std::string& name, const convolution_shape& s, bool served) {
        check<T>(type + ", " + name, s, has_type && served ? 3 : 0);
    };
    of("valid", shape_of(2, {6, 2}, {5, 3}, 3, 4), true);
    of("one position", shape_of(3, {4, 1}, {5, 1}, 3, 2), true);
    of("strides", shape_of(2, {9, 3, 3}, {8, 2, 2}, 2, 3), true);
    of("strides that leave pixels out", shape_of(2, {10, 2, 3}, {9, 1, 4}, 2, 3), true);
    of("even padding", shape_of(2, {6, 3, 1, 1, 1, 1}, {7, 5, 1, 1, 2, 2}, 3, 2), true);
    of("dilations", shape_of(1, {9, 3, 1, 2, 2, 2}, {11, 3, 2, 3, 3, 3}, 2, 2), true);
    of("same with strides", shape_of(2, {8, 3, 2, 1, 0, 1}, {7, 3, 2, 1, 1, 1}, 3, 4), true);
    of("more padding behind both axes", shape_of(2, {8, 4, 1, 1, 1, 2}, {6, 5, 2, 1, 0, 3}, 3, 2), true);
    of("more padding before, of no effect", shape_of(2, {8, 3, 2, 1, 1, 0}, {7, 1}, 3, 2), true);
    of("more padding before", shape_of(2, {8, 3, 1, 1, 2, 0}, {7, 1}, 3, 2), false);
    of("a sequence", shape_of(2, {1, 1}, {12, 3, 1, 1, 1, 1}, 3, 2), true);
    of("a volume", shape_of(2, {4, 2}, {5, 3}, 2, 3, {3, 2}), false);
    of("what the library refuses", shape_of(fake_cudnn::refused_batch, {4, 2}, {5, 3}, 2, 3), false);
    of("a higher image, with a larger workspace", shape_of(1, {40, 2}, {5, 3}, 1, 2), true);
}

} // namespace

int main(int, char** arguments) {
    const bool found = arguments[1] == std::string_view("library");
    expect(detail::convolution_library::is_found<float>() == found, found ? "cuDNN is found" : "no cuDNN is found");
    expect(!detail::convolution_library::is_found<double>(), "cuDNN has no convolutions of double");
    if (found) {
        void* const library = dlopen("libcudnn.so.9", RTLD_NOW);
        of_cudnn = reinterpret_cast<decltype(&fake_cudnn_counts)>(dlsym(library, "fake_cudnn_counts"))();
    }
    int there = 0;
    card_on_host::stream = reinterpret_cast<cudaStream_t>(&there);
    check_all<float>("float", true);
    check_all<rill::half>("half", true);
    check_all<rill::bfloat16>("bfloat16", true);
    check_all<double>("double", false);
    // the gradient by the image reads no unaligned operand
    check<float>("an unaligned image", shape_of(2, {6, 2}, {5, 3}, 3, 4), 1, 1);
    if (of_cudnn) {
        expect(of_cudnn->handles == 1, "a card has one handle");
        expect(of_cudnn->stream == card_on_host::stream, "convolutions start in the given stream");
    }
    std::printf("%s: %d convolutions by the library\n", problems ? "WRONG" : "ok",
                of_cudnn ? of_cudnn->convolutions : 0);
    return problems ? 1 : 0;
}
