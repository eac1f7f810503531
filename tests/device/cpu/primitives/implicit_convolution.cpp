// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/implicit_convolution.hpp>

#include <rill/device/cpu/primitives/convolution.hpp>

#include <cstdint>
#include <vector>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

namespace test_device_cpu_primitives_implicit_convolution {

window_axis same(index_t in, index_t size, index_t stride = 1, index_t dilation = 1) {
    const index_t out = (in + stride - 1) / stride, reach = (out - 1) * stride + (size - 1) * dilation + 1;
    return {in, out, size, stride, dilation, std::max<index_t>(reach - in, 0) / 2};
}
window_axis padded(index_t in, index_t size, index_t stride, index_t before, index_t after) {
    return {in, (in + before + after - size) / stride + 1, size, stride, 1, before};
}

/// Calls f(element of y, element of x, element of the filter) for every product of a convolution.
template <class F> void each_product(const convolution_shape& s, const F& f) {
    const auto& [az, ay, ax] = s.window.axis;
    const auto inside = [](const window_axis& a, index_t out, index_t k) {
        const index_t i = out * a.stride + k * a.dilation - a.before;
        return i >= 0 && i < a.in ? i : index_t(-1);
    };
    for (index_t at = 0; at < s.window.batch * s.window.windows(); ++at) {
        const index_t image = at / s.window.windows(), ox = at % ax.out, oy = at / ax.out % ay.out;
        const index_t oz = at / (ax.out * ay.out) % az.out;
        for (index_t p = 0; p < s.window.positions(); ++p) {
            const index_t x = inside(ax, ox, p % ax.size), y = inside(ay, oy, p / ax.size % ay.size);
            const index_t z = inside(az, oz, p / (ax.size * ay.size));
            if (x < 0 || y < 0 || z < 0) continue;
            const index_t pixel = ((image * az.in + z) * ay.in + y) * ax.in + x;
            for (index_t c = 0; c < s.in; ++c)
                for (index_t o = 0; o < s.out; ++o) f(at * s.out + o, pixel * s.in + c, (p * s.in + c) * s.out + o);
        }
    }
}

/// Returns small integers, so that every order of summation is exact.
template <class T> std::vector<T> numbers(index_t n, int step) {
    std::vector<T> v(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = static_cast<T>(static_cast<int>(i * 7 + i / 11) % step - step / 2);
    return v;
}

/// Memory for a convolution with this many threads: it begins at 64 bytes, and ends where the sanitizer watches.
template <class T> struct memory {
    explicit memory(std::size_t bytes) : bytes_(bytes), all_(new(std::align_val_t(64)) std::byte[bytes + 1]) {
        all_[bytes] = std::byte(77);
    }
    ~memory() { ::operator delete[](all_, std::align_val_t(64)); }
    memory(const memory&) = delete;
    void* data() { return all_; }
    bool is_intact() const { return all_[bytes_] == std::byte(77); }

private:
    std::size_t bytes_;
    std::byte* all_;
};

template <class T> void check(const convolution_shape& s) {
    const auto& w = s.window;
    INFO(w.batch << " images of " << w.axis[0].in << " x " << w.axis[1].in << " x " << w.axis[2].in << " x " << s.in
                 << ", windows " << w.axis[0].size << " x " << w.axis[1].size << " x " << w.axis[2].size << " x "
                 << s.out << ", stride " << w.axis[1].stride << ", " << w.axis[2].stride);
    const auto x = numbers<T>(w.batch * w.pixels() * s.in, 5), f = numbers<T>(w.positions() * s.in * s.out, 3);
    const auto g = numbers<T>(w.batch * w.windows() * s.out, 5);
    std::vector<T> y(g.size()), dx(x.size()), df(f.size());
    each_product(s, [&](index_t at, index_t from, index_t by) {
        const auto i = static_cast<std::size_t>(at), j = static_cast<std::size_t>(from);
        const auto k = static_cast<std::size_t>(by);
        y[i] += x[j] * f[k];
        dx[j] += g[i] * f[k];
        df[k] += x[j] * g[i];
    });
    const auto row = numbers<T>(s.out, 9);
    std::vector<T> finished(y);
    for (std::size_t i = 0; i < y.size(); ++i)
        finished[i] = std::max(y[i] + row[i % static_cast<std::size_t>(s.out)], T(0));
    for (const int threads : {1, 3}) {
        thread_pool pool(threads);
        const auto run = [&](convolution_part part, const auto& wanted, const auto& call) {
            memory<T> scratch(convolution_scratch_bytes<T>(part, s, pool.threads()));
            std::vector<T> got(wanted.size(), T(-1));
            call(got.data(), scratch.data());
            CHECK(scratch.is_intact());
            CHECK(got == wanted);
        };
        using enum convolution_part;
        run(forward, y, [&](T* to, void* own) { convolve<T>(s, x.data(), f.data(), to, own, &pool); });
        run(forward, finished,
            [&](T* to, void* own) { convolve<T>(s, x.data(), f.data(), to, own, &pool, {row.data(), true}); });
        run(input, dx, [&](T* to, void* own) { convolve_input<T>(s, f.data(), g.data(), to, own, &pool); });
        run(filter, df, [&](T* to, void* own) { convolve_filter<T>(s, x.data(), g.data(), to, own, &pool); });
    }
}

TEMPLATE_TEST_CASE("implicit_convolution: all parts are the plain sums", "", float, double) {
    const auto of = [](index_t batch, std::array<window_axis, 3> axes, index_t in, index_t out) {
        convolution_shape s;
        s.window.axis = axes;
        s.window.batch = batch;
        s.in = in;
        s.out = out;
        return s;
    };
    const window_axis none;
    check<TestType>(of(3, {none, same(28, 5), same(28, 5)}, 1, 32));
    check<TestType>(of(2, {none, same(14, 5), same(14, 5)}, 32, 20));
    check<TestType>(of(1, {none, same(30, 3), same(26, 3)}, 64, 49));      // bands of rows
    check<TestType>(of(2, {none, same(9, 3, 2), same(11, 3, 2)}, 7, 100)); // strides
    check<TestType>(of(2, {none, same(9, 3, 2), same(12, 3)}, 7, 5));
    check<TestType>(of(2, {none, same(10, 1, 2), same(12, 1, 2)}, 7, 5));  // with patches
    check<TestType>(of(2, {none, same(20, 3, 1, 2), same(12, 4)}, 9, 17)); // dilation
    check<TestType>(of(2, {none, same(12, 4), same(20, 3, 1, 2)}, 9, 17));
    check<TestType>(of(2, {none, padded(9, 2, 1, 3, 4), padded(9, 3, 1, 5, 2)}, 5, 6));  // windows outside the image
    check<TestType>(of(2, {none, padded(2, 5, 1, 2, 3), padded(3, 7, 1, 4, 70)}, 5, 6)); // larger than the image
    check<TestType>(of(2, {same(4, 3), same(9, 3), same(10, 3)}, 6, 11));
    check<TestType>(of(1, {same(5, 2, 2), padded(9, 3, 1, 0, 0), padded(10, 2, 1, 0, 0)}, 6, 11));
    check<TestType>(of(2, {none, none, same(100, 7)}, 4, 9));
    check<TestType>(of(1, {none, none, same(30000, 3)}, 16, 2)); // bands of a row
    check<TestType>(of(1, {none, none, same(20001, 4, 3)}, 16, 3));
    check<TestType>(of(2, {none, same(7, 3), same(7, 3)}, 300, 33)); // runs longer than a block
    check<TestType>(of(2, {none, same(9, 3), same(9, 3)}, 3, 1));
    check<TestType>(of(2, {none, same(300, 3), same(9, 3)}, 1, 2));
    check<TestType>(of(0, {none, same(9, 3), same(9, 3)}, 3, 4));
    check<TestType>(of(2, {none, same(9, 3), same(9, 3)}, 3, 0));
}

TEST_CASE("implicit_convolution: the sums of the filter's gradient do not depend on the number of threads") {
    convolution_shape s;
    s.window.axis = {window_axis(), same(40, 3), same(40, 3)};
    s.window.batch = 30;
    s.in = 8;
    s.out = 16;
    auto x = numbers<float>(s.window.batch * s.window.pixels() * s.in, 1000);
    auto g = numbers<float>(s.window.batch * s.window.windows() * s.out, 999);
    for (auto& v : x) v *= 0.37f;
    const auto of = [&](int threads) {
        thread_pool pool(threads);
        memory<float> scratch(convolution_scratch_bytes<float>(convolution_part::filter, s, pool.threads()));
        std::vector<float> df(static_cast<std::size_t>(s.window.positions() * s.in * s.out));
        convolve_filter<float>(s, x.data(), g.data(), df.data(), scratch.data(), &pool);
        return df;
    };
    const auto one = of(1);
    CHECK(of(2) == one);
    CHECK(of(5) == one);
}

} // namespace test_device_cpu_primitives_implicit_convolution
