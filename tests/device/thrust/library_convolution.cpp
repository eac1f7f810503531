// SPDX-License-Identifier: BSD-3-Clause
// Convolutions by a library of the device, which wants other layouts of filters and even padding. The library here is made of our own
// kernels. tests/nvcc/fake/convolutions.cpp has a library that is loaded at run time.
#include <rill/device/thrust/library_convolution.hpp>

#include <rill/device/thrust/host_backend.hpp>
#include <rill/device/thrust/thrust_device.hpp>
#include <rill/rill.hpp>

#include "../../catch.hpp"

using namespace rill;

namespace test_library_convolution {

struct plain : thrust_device<plain, host_backend<cpp_system>> {
    static constexpr std::string_view type = "plain";
};

/// A library that takes filters [out, height, width, in], and refuses images of one channel.
struct library_backend : host_backend<cpp_system> {
    static inline int computed = 0;
    static inline bool has_failed = false;

    template <class T> static bool has_convolutions() { return true; }
    template <class T> static bool convolves(convolution_part, const convolution_shape& s) { return s.in > 1; }
    template <class T>
    static bool convolve(convolution_part part, const convolution_shape& s, const T* a, const T* b, T* c) {
        if (has_failed) return false;
        ++computed;
        const index_t patch = s.window.positions() * s.in;
        std::vector<T> filter(static_cast<std::size_t>(patch * s.out));
        const auto turn = [](const T* from, T* to, index_t rows, index_t columns) {
            for (index_t i = 0; i < rows; ++i)
                for (index_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
        };
        switch (part) {
        case convolution_part::forward:
            turn(b, filter.data(), s.out, patch);
            plain::convolve<T>({}, s, a, filter.data(), c);
            break;
        case convolution_part::input:
            turn(a, filter.data(), s.out, patch);
            plain::convolve_input<T>({}, s, filter.data(), b, c);
            break;
        case convolution_part::filter:
            plain::convolve_filter<T>({}, s, a, b, filter.data());
            turn(filter.data(), c, patch, s.out);
            break;
        }
        return true;
    }
};
struct with_library : thrust_device<with_library, library_backend> {
    static constexpr std::string_view type = "with_library";
};

using numbers = std::vector<double>;

numbers draw(index_t n, unsigned seed) {
    numbers all(static_cast<std::size_t>(n));
    for (auto& x : all) x = static_cast<double>((seed = seed * 1664525u + 1013904223u) >> 16) / 32768 - 1;
    return all;
}

/// Returns the result, the same with bias and relu, and both gradients.
template <class D> std::vector<numbers> run(const convolution_shape& s, bool aligned = true) {
    const index_t n_x = s.window.batch * s.window.pixels() * s.in, n_f = s.window.positions() * s.in * s.out,
                  n_y = s.window.batch * s.window.windows() * s.out;
    const auto x = draw(n_x + 1, 1), f = draw(n_f, 2), g = draw(n_y, 3), row = draw(s.out, 4);
    const numbers moved(x.begin() + (aligned ? 0 : 1), x.end());
    const double* const xs = aligned ? moved.data() : x.data() + 1; // 8 bytes behind a place of a vector
    std::vector<numbers> got{numbers(static_cast<std::size_t>(n_y)), numbers(static_cast<std::size_t>(n_y)),
                             numbers(static_cast<std::size_t>(n_x)), numbers(static_cast<std::size_t>(n_f))};
    std::vector<double> scratch;
    const auto on = [&](convolution_part part) {
        execution_context made;
        scratch.assign(D::template convolution_scratch<double>({}, part, s) / sizeof(double), -1);
        made.scratch = scratch.data();
        return made;
    };
    D::convolve(on(convolution_part::forward), s, xs, f.data(), got[0].data());
    D::convolve(on(convolution_part::forward), s, xs, f.data(), got[1].data(), {row.data(), true});
    D::convolve_input(on(convolution_part::input), s, f.data(), g.data(), got[2].data());
    D::convolve_filter(on(convolution_part::filter), s, xs, g.data(), got[3].data());
    return got;
}

TEST_CASE("library convolution: layouts and padding are those of the library") {
    const window_axis one;
    const window_axis valid{7, 5, 3, 1, 1, 0}, same{8, 4, 3, 2, 1, 0}, even{7, 4, 3, 2, 1, 1},
        dilated{9, 7, 3, 1, 2, 1}, front{7, 7, 3, 1, 1, 2};
    const auto check = [](const convolution_shape& s, int parts) {
        library_backend::computed = 0;
        const auto got = run<with_library>(s);
        CHECK(library_backend::computed == parts);
        CHECK(got == run<plain>(s));
    };
    check({{{one, valid, valid}, 2}, 3, 4}, 4);
    check({{{one, even, valid}, 2}, 3, 4}, 4);
    check({{{one, same, even}, 2}, 3, 4}, 4);
    check({{{one, same, same}, 2}, 3, 4}, 4);
    check({{{one, dilated, same}, 2}, 3, 1}, 4);
    check({{{one, one, same}, 2}, 3, 2}, 4);
    check({{{one, front, valid}, 2}, 3, 4}, 0); // more padding before than behind
    check({{{valid, same, same}, 1}, 2, 2}, 0); // three axes
    check({{{one, same, valid}, 2}, 1, 4}, 0);  // the library refuses one channel
}

TEST_CASE("library convolution: own kernels compute unaligned operands and what the library fails at") {
    const convolution_shape s{{{window_axis{}, window_axis{8, 4, 3, 2, 1, 0}, window_axis{7, 5, 3, 1, 1, 0}}, 2}, 3, 4};
    library_backend::computed = 0;
    CHECK(run<with_library>(s, false) == run<plain>(s, false));
    CHECK(library_backend::computed == 1); // the gradient by the image does not read it
    library_backend::has_failed = true;
    CHECK(run<with_library>(s) == run<plain>(s));
    library_backend::has_failed = false;
}

TEST_CASE("library convolution: images are padded behind alone") {
    const convolution_shape s{{{window_axis{}, window_axis{8, 4, 3, 2, 1, 0}, window_axis{7, 4, 3, 2, 1, 1}}, 2}, 3, 4};
    const auto even = detail::evenly_padded(s);
    REQUIRE(even);
    CHECK(even->window.axis[1].in == 9);
    CHECK(even->window.axis[2].in == 7);
    CHECK_FALSE(detail::evenly_padded({{{s.window.axis[1], s.window.axis[2], s.window.axis[2]}, 1}, 1, 1}));
}

} // namespace test_library_convolution
