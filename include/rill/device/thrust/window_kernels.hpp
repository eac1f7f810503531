// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include <rill/device/cpu/primitives/windows.hpp>
#include <rill/device/quantization.hpp>
#include <rill/device/thrust/products.hpp>

// Kernels for pools and convolutions: one thread computes one element of the result. Gradients by the image gather from the windows that
// cover a pixel, in the order of the windows. Thus no two threads add to the same element.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns window number `at`, counted over all images.
RILL_FN placed_window window_at(const window_shape& w, index_t at) {
    const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
    const index_t row = at / ax.out;
    return {w, row / (ay.out * az.out), inside_positions(az, row / ay.out % az.out), inside_positions(ay, row % ay.out),
            inside_positions(ax, at % ax.out)};
}

/// Calls f(window, position in it) for each window along one axis that covers a place.
template <class F> RILL_FN void each_covering(const window_axis& a, index_t place, const F& f) {
    const index_t reach = (a.size - 1) * a.dilation, padded = place + a.before;
    const index_t first = padded <= reach ? 0 : (padded - reach + a.stride - 1) / a.stride;
    for (index_t out = first; out < a.out && out * a.stride <= padded; ++out) {
        const index_t distance = padded - out * a.stride;
        if (distance % a.dilation == 0) f(out, distance / a.dilation);
    }
}

/// Calls f(window, position in it) for all windows that cover a pixel, counted over all images, in order.
template <class F> RILL_FN void each_window_over(const window_shape& w, index_t pixel, const F& f) {
    const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
    const index_t x = pixel % ax.in, row = pixel / ax.in, y = row % ay.in, plane = row / ay.in, z = plane % az.in,
                  image = plane / az.in;
    each_covering(az, z, [&](index_t oz, index_t kz) {
        each_covering(ay, y, [&](index_t oy, index_t ky) {
            each_covering(ax, x, [&](index_t ox, index_t kx) {
                f(((image * az.out + oz) * ay.out + oy) * ax.out + ox, (kz * ay.size + ky) * ax.size + kx);
            });
        });
    });
}

/// Returns the pixel of the first element of a window, in one channel, that equals the window's result; -1 if there is none.
template <class T>
RILL_FN index_t first_largest(const window_shape& w, index_t channels, const T* x, const T* y, index_t window,
                              index_t channel) {
    using C = compute_type<T>;
    const C wanted = static_cast<C>(y[window * channels + channel]);
    index_t found = -1;
    window_at(w, window).each([&](index_t pixel, index_t) {
        const C v = static_cast<C>(x[pixel * channels + channel]);
        if (found < 0 && (v == wanted || (is_missing(v) && is_missing(wanted)))) found = pixel;
    });
    return found;
}

template <class T> struct max_pool_element {
    window_shape w;
    index_t channels;
    const T* x;
    T* y;
    RILL_FN void operator()(index_t i) const {
        using C = compute_type<T>;
        C best{};
        bool any = false;
        window_at(w, i / channels).each([&](index_t pixel, index_t) {
            const C v = static_cast<C>(x[pixel * channels + i % channels]);
            if (!any || v > best || is_missing(v)) best = v;
            any = true;
        });
        y[i] = static_cast<T>(best);
    }
};

template <class T> struct max_pool_gradient_element {
    window_shape w;
    index_t channels;
    const T *x, *y, *g;
    T* dx;
    RILL_FN void operator()(index_t i) const {
        using C = compute_type<T>;
        const index_t pixel = i / channels, channel = i % channels;
        T sum(0);
        each_window_over(w, pixel, [&](index_t window, index_t) {
            if (first_largest(w, channels, x, y, window, channel) == pixel)
                sum = static_cast<T>(static_cast<C>(sum) + static_cast<C>(g[window * channels + channel]));
        });
        dx[i] = sum;
    }
};

template <class T> struct max_pool_gather_element {
    window_shape w;
    index_t channels;
    const T *x, *y, *from;
    T* to;
    RILL_FN void operator()(index_t i) const {
        const index_t pixel = first_largest(w, channels, x, y, i / channels, i % channels);
        if (pixel >= 0) to[i] = from[pixel * channels + i % channels];
    }
};

template <class T> struct average_pool_element {
    window_shape w;
    index_t channels;
    const T* x;
    T* y;
    RILL_FN void operator()(index_t i) const {
        using C = compute_type<T>;
        const placed_window window = window_at(w, i / channels);
        C sum{};
        window.each([&](index_t pixel, index_t) { sum += static_cast<C>(x[pixel * channels + i % channels]); });
        y[i] = static_cast<T>(sum * (C(1) / static_cast<C>(window.count())));
    }
};

template <class T> struct average_pool_gradient_element {
    window_shape w;
    index_t channels;
    const T* g;
    T* dx;
    RILL_FN void operator()(index_t i) const {
        using C = compute_type<T>;
        T sum(0);
        each_window_over(w, i / channels, [&](index_t window, index_t) {
            const C share = C(1) / static_cast<C>(window_at(w, window).count());
            const C part = static_cast<C>(g[window * channels + i % channels]) * share;
            sum = static_cast<T>(static_cast<C>(sum) + part);
        });
        dx[i] = sum;
    }
};

/// A function object that computes one element of the patches [windows, positions, channels]; zero outside the image.
template <class T> struct patch_element {
    window_shape w;
    index_t channels;
    const T* x;
    T* to;
    RILL_FN void operator()(index_t i) const {
        const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
        const index_t channel = i % channels, at = i / channels, position = at % w.positions();
        const placed_window window = window_at(w, at / w.positions());
        const index_t kx = position % ax.size, ky = position / ax.size % ay.size, kz = position / ax.size / ay.size;
        const auto inside = [](const inside_positions& p, index_t k) { return k >= p.first && k < p.end; };
        if (!inside(window.x, kx) || !inside(window.y, ky) || !inside(window.z, kz)) {
            to[i] = T(0);
            return;
        }
        const index_t plane = window.image * az.in + window.z.start + kz * az.dilation;
        const index_t row = plane * ay.in + window.y.start + ky * ay.dilation;
        to[i] = x[(row * ax.in + window.x.start + kx * ax.dilation) * channels + channel];
    }
};

template <class T> struct patch_gradient_element {
    window_shape w;
    index_t channels;
    const T* g;
    T* dx;
    RILL_FN void operator()(index_t i) const {
        using C = compute_type<T>;
        T sum(0);
        each_window_over(w, i / channels, [&](index_t window, index_t position) {
            const T part = g[(window * w.positions() + position) * channels + i % channels];
            sum = static_cast<T>(static_cast<C>(sum) + static_cast<C>(part));
        });
        dx[i] = sum;
    }
};

/// A function object that computes one element of a convolution [windows, out].
template <class T> struct convolution_element {
    using C = compute_type<T>;
    convolution_shape s;
    const T *x, *f;
    T* y;
    finished_element<T> finish;
    RILL_FN void operator()(index_t i) const {
        const index_t out = i % s.out;
        chunked_sum<C> sum;
        window_at(s.window, i / s.out).each([&](index_t pixel, index_t position) {
            for (index_t c = 0; c < s.in; ++c)
                sum.add_product(lane<C>(static_cast<C>(x[pixel * s.in + c])),
                                lane<C>(static_cast<C>(f[(position * s.in + c) * s.out + out])));
        });
        y[i] = finish(sum.value(), out);
    }
};

/// A function object that computes one element of a quantised convolution [windows, out]. Sums wrap around. `ranges`: the ends of the
/// image's range, then of the filter's.
template <class Q> struct quantized_convolution_element {
    convolution_shape s;
    const Q *x, *f;
    std::array<const float*, 4> ranges;
    qint32* y;
    RILL_FN void operator()(index_t i) const {
        const index_t out = i % s.out;
        const auto x0 = static_cast<std::uint32_t>(quantized_range{*ranges[0], *ranges[1]}.template zero_point<Q>()),
                   f0 = static_cast<std::uint32_t>(quantized_range{*ranges[2], *ranges[3]}.template zero_point<Q>());
        std::uint32_t sum = 0;
        window_at(s.window, i / s.out).each([&](index_t pixel, index_t position) { // a padded 0 adds nothing
            for (index_t c = 0; c < s.in; ++c)
                sum += (static_cast<std::uint32_t>(x[pixel * s.in + c].value) - x0) *
                       (static_cast<std::uint32_t>(f[(position * s.in + c) * s.out + out].value) - f0);
        });
        y[i].value = static_cast<std::int32_t>(sum);
    }
};

/// A function object that computes one element of a convolution's gradient by the image [pixels, in].
template <class T> struct convolution_input_element {
    using C = compute_type<T>;
    convolution_shape s;
    const T *f, *g;
    T* dx;
    RILL_FN void operator()(index_t i) const {
        const index_t c = i % s.in;
        T all(0);
        each_window_over(s.window, i / s.in, [&](index_t window, index_t position) {
            chunked_sum<C> sum;
            for (index_t out = 0; out < s.out; ++out)
                sum.add_product(lane<C>(static_cast<C>(g[window * s.out + out])),
                                lane<C>(static_cast<C>(f[(position * s.in + c) * s.out + out])));
            all = static_cast<T>(static_cast<C>(all) + static_cast<C>(static_cast<T>(sum.value().v)));
        });
        dx[i] = all;
    }
};

/// Returns the sum of x times g over all windows, at one filter position and for one channel of each.
template <class T>
RILL_FN T sum_over_windows(const convolution_shape& s, const T* x, const T* g, index_t position, index_t channel,
                           index_t out, index_t outs) {
    using C = compute_type<T>;
    const auto &az = s.window.axis[0], &ay = s.window.axis[1], &ax = s.window.axis[2];
    const index_t kx = position % ax.size, ky = position / ax.size % ay.size, kz = position / ax.size / ay.size;
    const index_t z0 = kz * az.dilation - az.before, y0 = ky * ay.dilation - ay.before,
                  x0 = kx * ax.dilation - ax.before;
    const auto inside = [](index_t at, const window_axis& a) { return at >= 0 && at < a.in; };
    chunked_sum<C> sum;
    for (index_t image = 0; image < s.window.batch; ++image)
        for (index_t oz = 0; oz < az.out; ++oz) {
            const index_t z = z0 + oz * az.stride;
            if (!inside(z, az)) continue;
            for (index_t oy = 0; oy < ay.out; ++oy) {
                const index_t y = y0 + oy * ay.stride;
                if (!inside(y, ay)) continue;
                const index_t windows = ((image * az.out + oz) * ay.out + oy) * ax.out,
                              row = ((image * az.in + z) * ay.in + y) * ax.in;
                for (index_t ox = 0; ox < ax.out; ++ox) {
                    const index_t at = x0 + ox * ax.stride;
                    if (!inside(at, ax)) continue;
                    sum.add_product(lane<C>(static_cast<C>(x[(row + at) * s.in + channel])),
                                    lane<C>(static_cast<C>(g[(windows + ox) * outs + out])));
                }
            }
        }
    return static_cast<T>(sum.value().v);
}

/// A function object that computes one element of a convolution's gradient by the filter [positions, in, out].
template <class T> struct convolution_filter_element {
    convolution_shape s;
    const T *x, *g;
    T* df;
    RILL_FN void operator()(index_t i) const {
        const index_t out = i % s.out, channel = i / s.out % s.in;
        df[i] = sum_over_windows(s, x, g, i / s.out / s.in, channel, out, s.out);
    }
};

template <class T> struct depthwise_element {
    using C = compute_type<T>;
    convolution_shape s;
    const T *x, *f;
    T* y;
    RILL_FN void operator()(index_t i) const {
        const index_t channels = s.in * s.out, c = i % channels;
        C sum{};
        window_at(s.window, i / channels).each([&](index_t pixel, index_t position) {
            sum += static_cast<C>(x[pixel * s.in + c / s.out]) * static_cast<C>(f[position * channels + c]);
        });
        y[i] = static_cast<T>(sum);
    }
};

template <class T> struct depthwise_input_element {
    using C = compute_type<T>;
    convolution_shape s;
    const T *f, *g;
    T* dx;
    RILL_FN void operator()(index_t i) const {
        const index_t channels = s.in * s.out, c = i % s.in;
        T all(0);
        each_window_over(s.window, i / s.in, [&](index_t window, index_t position) {
            C sum = static_cast<C>(all);
            for (index_t m = c * s.out; m < (c + 1) * s.out; ++m)
                sum += static_cast<C>(g[window * channels + m]) * static_cast<C>(f[position * channels + m]);
            all = static_cast<T>(sum);
        });
        dx[i] = all;
    }
};

template <class T> struct depthwise_filter_element {
    convolution_shape s;
    const T *x, *g;
    T* df;
    RILL_FN void operator()(index_t i) const {
        const index_t channels = s.in * s.out, c = i % channels;
        df[i] = sum_over_windows(s, x, g, i / channels, c / s.out, c, channels);
    }
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
