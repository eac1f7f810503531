// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include <rill/core/thread_pool.hpp>
#include <rill/core/window.hpp>
#include <rill/device/numbers.hpp>
#include <rill/device/primitives.hpp>

// Iteration over the windows of images, and pools. Channels are innermost: a chunk of them stays in registers during the loop over a
// window's positions.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// The positions of a window that lie inside the image, along one axis: from `first` to `end`. Position 0 lies at `start`.
struct inside_positions {
    index_t start, first, end;

    RILL_FN inside_positions(const window_axis& a, index_t out) : start(out * a.stride - a.before) {
        const auto reached = [&](index_t distance) { return (distance + a.dilation - 1) / a.dilation; };
        first = start >= 0 ? 0 : reached(-start);
        end = start >= a.in ? 0 : std::min(a.size, reached(a.in - start));
        if (end < first) first = end = 0;
    }
    RILL_FN index_t count() const { return end - first; }
};

/// One window. It calls f(pixel, position in the window) for the positions inside the image.
struct placed_window {
    const window_shape& of;
    index_t image;
    inside_positions z, y, x;

    template <class F> RILL_FN void each(const F& f) const {
        const auto &az = of.axis[0], &ay = of.axis[1], &ax = of.axis[2];
        for (index_t kz = z.first; kz < z.end; ++kz)
            for (index_t ky = y.first; ky < y.end; ++ky) {
                const index_t plane = image * az.in + z.start + kz * az.dilation;
                const index_t row = (plane * ay.in + y.start + ky * ay.dilation) * ax.in + x.start;
                const index_t position = (kz * ay.size + ky) * ax.size;
                for (index_t kx = x.first; kx < x.end; ++kx) f(row + kx * ax.dilation, position + kx);
            }
    }
    RILL_FN index_t count() const { return z.count() * y.count() * x.count(); }
};

/// Returns the number of rows of windows: lines along the last axis, over all images.
inline index_t window_rows(const window_shape& w) { return w.batch * w.axis[0].out * w.axis[1].out; }

/// Calls f(number of the window, window) for the rows of windows from `row` to `end`.
template <class F> RILL_FN void each_window(const window_shape& w, index_t row, index_t end, const F& f) {
    const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
    for (; row < end; ++row) {
        const inside_positions y(ay, row % ay.out), z(az, row / ay.out % az.out);
        const index_t image = row / (ay.out * az.out);
        for (index_t i = 0; i < ax.out; ++i)
            f(row * ax.out + i, placed_window{w, image, z, y, inside_positions(ax, i)});
    }
}

/// Calls f(from, end) for parts of [0, n), on the pool's threads if the work of `each` elements pays.
template <class F> void share_windows(index_t n, index_t each, thread_pool* pool, const F& f) {
    const index_t parts = pool && n * each >= window_shared_from ? std::min<index_t>(n, pool->threads()) : 1;
    if (parts <= 1) return f(0, n);
    pool->run(static_cast<int>(parts), [&](int i) { f(n * i / parts, n * (i + 1) / parts); });
}

/// Returns true for NaN.
template <class C> RILL_FN constexpr bool is_missing(const C& v) {
    if constexpr (std::is_floating_point_v<C>)
        return v != v;
    else
        return false;
}

/// The number of channels that are computed at once. It is a constant, so that the compiler keeps them in registers.
inline constexpr int channel_chunk = 16;

/// Calls f(first channel, count) for chunks of channels; the count is a compile-time constant for full chunks.
template <class F> RILL_FN void each_chunk(index_t channels, const F& f) {
    index_t c = 0;
    for (; c + channel_chunk <= channels; c += channel_chunk) f(c, std::integral_constant<int, channel_chunk>{});
    if (c < channels) f(c, static_cast<int>(channels - c));
}

/// Calls f(image, window number, window) for the images from `image` to `end`.
template <class F> RILL_FN void each_window_of_images(const window_shape& w, index_t image, index_t end, const F& f) {
    const index_t rows = w.axis[0].out * w.axis[1].out;
    each_window(w, image * rows, end * rows, f);
}

/// Returns the work of one image, in elements read.
inline index_t work_of_image(const window_shape& w, index_t channels) { return w.windows() * w.positions() * channels; }
inline index_t work_of_row(const window_shape& w, index_t channels) { return w.axis[2].out * w.positions() * channels; }

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Writes the largest element of each window; NaN if there is one.
template <class T>
void max_of_windows(const window_shape& w, index_t channels, const T* x, T* y, thread_pool* pool = nullptr) {
    using namespace detail;
    using C = compute_type<T>;
    share_windows(window_rows(w), work_of_row(w, channels), pool, [&](index_t from, index_t end) {
        each_window(w, from, end, [&](index_t at, const placed_window& window) {
            each_chunk(channels, [&](index_t c, auto count) {
                C best[channel_chunk];
                bool any = false;
                window.each([&](index_t pixel, index_t) {
                    const T* const from_x = x + pixel * channels + c;
                    if (!any)
                        for (int i = 0; i < count; ++i) best[i] = static_cast<C>(from_x[i]);
                    else
                        for (int i = 0; i < count; ++i) {
                            const C v = static_cast<C>(from_x[i]);
                            best[i] = v > best[i] || is_missing(v) ? v : best[i];
                        }
                    any = true;
                });
                for (int i = 0; i < count; ++i) y[at * channels + c + i] = static_cast<T>(best[i]);
            });
        });
    });
}

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Calls f(pixel and channel, window and channel) for the first element of each window that equals the window's result y.
template <class T, class F>
RILL_FN void each_largest(const window_shape& w, index_t channels, const T* x, const T* y, index_t image, index_t end,
                          const F& f) {
    using C = compute_type<T>;
    each_window_of_images(w, image, end, [&](index_t at, const placed_window& window) {
        each_chunk(channels, [&](index_t c, auto count) {
            bool found[channel_chunk] = {};
            window.each([&](index_t pixel, index_t) {
                for (int i = 0; i < count; ++i) {
                    const index_t from = pixel * channels + c + i, to = at * channels + c + i;
                    const C v = static_cast<C>(x[from]), wanted = static_cast<C>(y[to]);
                    if (found[i] || !(v == wanted || (is_missing(v) && is_missing(wanted)))) continue;
                    found[i] = true;
                    f(from, to);
                }
            });
        });
    });
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Adds the gradient of each window's result to the first of the window's largest elements; dx is overwritten.
template <class T>
void max_of_windows_gradient(const window_shape& w, index_t channels, const T* x, const T* y, const T* g, T* dx,
                             thread_pool* pool = nullptr) {
    using namespace detail;
    using C = compute_type<T>;
    const index_t pixels = w.pixels() * channels;
    share_windows(w.batch, work_of_image(w, channels), pool, [&](index_t image, index_t end) {
        std::fill_n(dx + image * pixels, (end - image) * pixels, T(0));
        each_window_of_images(w, image, end, [&](index_t at, const placed_window& window) {
            each_chunk(channels, [&](index_t c, auto count) { // without branches, so that channels share registers
                C wanted[channel_chunk], left[channel_chunk]; // `left` is 0 once the gradient has been added
                for (int i = 0; i < count; ++i) {
                    wanted[i] = static_cast<C>(y[at * channels + c + i]);
                    left[i] = static_cast<C>(g[at * channels + c + i]);
                }
                window.each([&](index_t pixel, index_t) {
                    const T* const from = x + pixel * channels + c;
                    T* const to = dx + pixel * channels + c;
                    C sum[channel_chunk];
                    for (int i = 0; i < count; ++i) {
                        const C v = static_cast<C>(from[i]);
                        const bool hit = (v == wanted[i]) | (is_missing(v) & is_missing(wanted[i]));
                        sum[i] = hit ? left[i] : C(0);
                        left[i] = hit ? C(0) : left[i];
                    }
                    for (int i = 0; i < count; ++i) to[i] = static_cast<T>(static_cast<C>(to[i]) + sum[i]);
                });
            });
        });
    });
}

/// Reads `from`, shaped like x, at each window's first largest element: the gradient of max_of_windows_gradient by g.
template <class T>
void gather_largest(const window_shape& w, index_t channels, const T* x, const T* y, const T* from, T* to,
                    thread_pool* pool = nullptr) {
    using namespace detail;
    share_windows(w.batch, work_of_image(w, channels), pool, [&](index_t image, index_t end) {
        each_largest(w, channels, x, y, image, end, [&](index_t pixel, index_t at) { to[at] = from[pixel]; });
    });
}

/// Writes the mean of each window's elements: the sum, divided by the number of elements inside the image.
template <class T>
void mean_of_windows(const window_shape& w, index_t channels, const T* x, T* y, thread_pool* pool = nullptr) {
    using namespace detail;
    using C = compute_type<T>;
    share_windows(window_rows(w), work_of_row(w, channels), pool, [&](index_t from, index_t end) {
        each_window(w, from, end, [&](index_t at, const placed_window& window) {
            const C share = C(1) / static_cast<C>(window.count());
            each_chunk(channels, [&](index_t c, auto count) {
                C sum[channel_chunk] = {};
                window.each([&](index_t pixel, index_t) {
                    for (int i = 0; i < count; ++i) sum[i] += static_cast<C>(x[pixel * channels + c + i]);
                });
                for (int i = 0; i < count; ++i) y[at * channels + c + i] = static_cast<T>(sum[i] * share);
            });
        });
    });
}

/// Spreads the gradient of each window's mean over the window's elements; dx is overwritten.
template <class T>
void mean_of_windows_gradient(const window_shape& w, index_t channels, const T* g, T* dx, thread_pool* pool = nullptr) {
    using namespace detail;
    using C = compute_type<T>;
    const index_t pixels = w.pixels() * channels;
    share_windows(w.batch, work_of_image(w, channels), pool, [&](index_t image, index_t end) {
        std::fill_n(dx + image * pixels, (end - image) * pixels, T(0));
        each_window_of_images(w, image, end, [&](index_t at, const placed_window& window) {
            const C share = C(1) / static_cast<C>(window.count());
            each_chunk(channels, [&](index_t c, auto count) {
                C part[channel_chunk];
                for (int i = 0; i < count; ++i) part[i] = static_cast<C>(g[at * channels + c + i]) * share;
                window.each([&](index_t pixel, index_t) {
                    T* const to = dx + pixel * channels + c;
                    for (int i = 0; i < count; ++i) to[i] = static_cast<T>(static_cast<C>(to[i]) + part[i]);
                });
            });
        });
    });
}

}}} // namespace rill::RILL_ABI::RILL_ISA
