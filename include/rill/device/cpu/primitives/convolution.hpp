// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include <rill/core/allocator.hpp>
#include <rill/device/cpu/gemm/gemm.hpp>
#include <rill/device/cpu/primitives/implicit_convolution.hpp>
#include <rill/device/cpu/primitives/windows.hpp>

// Convolutions as matrix products. The windows of an image are the rows of a matrix of patches, [windows, positions × channels]. Most are
// multiplied without that matrix, see implicit_convolution.hpp. For the others, the matrix is copied and multiplied in blocks that fit the
// L2 cache. A window of one pixel needs no copy.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Copies the patches of `count` windows from window `first` on, with zeros outside the image.
template <class T>
void copy_patches(const window_shape& w, index_t channels, const T* x, index_t first, index_t count, T* to) {
    const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
    const index_t line = ax.size * channels;
    for (index_t at = first; at < first + count; ++at) {
        const index_t row = at / ax.out, image = row / (ay.out * az.out);
        const inside_positions z(az, row / ay.out % az.out), y(ay, row % ay.out), p(ax, at % ax.out);
        for (index_t kz = 0; kz < az.size; ++kz)
            for (index_t ky = 0; ky < ay.size; ++ky, to += line) {
                const bool inside = kz >= z.first && kz < z.end && ky >= y.first && ky < y.end;
                if (!inside) {
                    std::fill_n(to, line, T(0));
                    continue;
                }
                const index_t plane = image * az.in + z.start + kz * az.dilation;
                const T* const from = x + ((plane * ay.in + y.start + ky * ay.dilation) * ax.in + p.start) * channels;
                std::fill_n(to, p.first * channels, T(0));
                if (ax.dilation == 1)
                    std::copy_n(from + p.first * channels, p.count() * channels, to + p.first * channels);
                else
                    for (index_t k = p.first; k < p.end; ++k)
                        std::copy_n(from + k * ax.dilation * channels, channels, to + k * channels);
                std::fill_n(to + p.end * channels, (ax.size - p.end) * channels, T(0));
            }
    }
}

/// Adds patches to the image: the transpose of copy_patches.
template <class T>
void add_patches(const window_shape& w, index_t channels, const T* from, index_t first, index_t count, T* x) {
    using C = compute_type<T>;
    const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
    const index_t line = ax.size * channels;
    const auto add = [](const T* source, T* to, index_t n) {
        for (index_t i = 0; i < n; ++i) to[i] = static_cast<T>(static_cast<C>(to[i]) + static_cast<C>(source[i]));
    };
    for (index_t at = first; at < first + count; ++at) {
        const index_t row = at / ax.out, image = row / (ay.out * az.out);
        const inside_positions z(az, row / ay.out % az.out), y(ay, row % ay.out), p(ax, at % ax.out);
        for (index_t kz = 0; kz < az.size; ++kz)
            for (index_t ky = 0; ky < ay.size; ++ky, from += line) {
                if (kz < z.first || kz >= z.end || ky < y.first || ky >= y.end) continue;
                const index_t plane = image * az.in + z.start + kz * az.dilation;
                T* const to = x + ((plane * ay.in + y.start + ky * ay.dilation) * ax.in + p.start) * channels;
                if (ax.dilation == 1)
                    add(from + p.first * channels, to + p.first * channels, p.count() * channels);
                else
                    for (index_t k = p.first; k < p.end; ++k)
                        add(from + k * channels, to + k * ax.dilation * channels, channels);
            }
    }
}

/// Returns true if the patches are the image itself.
inline bool is_plain_product(const window_shape& w) {
    return std::ranges::all_of(
        w.axis, [](const window_axis& a) { return a.size == 1 && a.stride == 1 && a.before == 0 && a.in == a.out; });
}

/// The division of a convolution into blocks of windows, by shape alone. It also divides the scratch memory among threads.
template <class T> struct convolution_plan {
    static constexpr index_t block_bytes = 1 << 19;

    convolution_part part;
    convolution_shape shape;
    index_t patch, windows;    // elements of a patch; windows of all images
    index_t rows;              // windows of a block
    index_t images, units;     // gradient by input: images per unit of work, and number of units
    index_t groups = 1;        // gradient by filter: separate sums, added in order
    int threads;               // number of threads that share the work
    std::size_t product_bytes; // scratch memory of one product
    std::size_t patch_bytes, sum_bytes_of_thread;

    convolution_plan(convolution_part p, const convolution_shape& s, int most_threads) : part(p), shape(s) {
        const auto& w = s.window;
        patch = w.positions() * s.in;
        windows = w.batch * w.windows();
        const index_t fit = block_bytes / std::max<index_t>(patch * static_cast<index_t>(sizeof(T)), 1);
        const index_t most = std::max<index_t>(fit, 16);
        images = std::max<index_t>(most / std::max<index_t>(w.windows(), 1), 1);
        units = (w.batch + images - 1) / images;
        rows = std::min(part == convolution_part::input && images == 1 ? w.windows() : windows,
                        part == convolution_part::input && images > 1 ? images * w.windows() : most);
        rows = std::max<index_t>(rows, 1); // images may have no windows
        const double work = 2. * static_cast<double>(windows) * static_cast<double>(patch) * static_cast<double>(s.out);
        index_t shared = part == convolution_part::input ? units : blocks();
        if (part == convolution_part::filter) {
            groups = groups_of_sums(filter() * static_cast<index_t>(sizeof(compute_type<T>)), blocks());
            shared = groups;
        }
        threads = work < shared_from ? 1 : static_cast<int>(std::min<index_t>(most_threads, shared));
        product_bytes = 0;
        const index_t last = windows % rows, last_of_image = w.windows() % rows;
        const index_t last_unit = (w.batch % images) * w.windows();
        for (const index_t count : {rows, last, last_of_image, last_unit % rows, std::min(last_unit, rows)})
            if (count > 0) product_bytes = std::max(product_bytes, product_scratch(count));
        product_bytes = aligned_size(product_bytes);
        patch_bytes = aligned_size(static_cast<std::size_t>(rows * patch) * sizeof(T));
        sum_bytes_of_thread =
            part == convolution_part::filter ? aligned_size(static_cast<std::size_t>(filter()) * sizeof(T)) : 0;
    }

    index_t filter() const { return patch * shape.out; }
    index_t blocks() const { return (windows + rows - 1) / rows; }
    std::size_t bytes_of_thread() const { return patch_bytes + sum_bytes_of_thread + product_bytes; }
    std::size_t bytes_of_groups() const {
        return part == convolution_part::filter
                   ? aligned_size(static_cast<std::size_t>(groups * filter()) * sizeof(compute_type<T>))
                   : 0;
    }
    std::size_t scratch_bytes() const {
        return bytes_of_groups() + bytes_of_thread() * static_cast<std::size_t>(std::max(threads, 1));
    }

    /// Calls f(from, end, memory of the thread) for parts of [0, n).
    template <class F> void share(index_t n, void* scratch, thread_pool* pool, const F& f) const {
        auto* const memory = static_cast<std::byte*>(scratch) + bytes_of_groups();
        share_with_memory(n, threads, memory, bytes_of_thread(), pool, f);
    }

private:
    std::size_t product_scratch(index_t count) const {
        switch (part) {
        case convolution_part::forward: return gemm_scratch_bytes<T>(false, false, count, shape.out, patch);
        case convolution_part::input: return gemm_scratch_bytes<T>(false, true, count, patch, shape.out);
        case convolution_part::filter: return gemm_scratch_bytes<T>(true, false, patch, shape.out, count);
        }
        return 0;
    }
};

/// Returns true if a convolution needs neither patches nor a library.
template <class T> bool needs_no_patches(convolution_part part, const convolution_shape& s) {
    if (is_plain_product(s.window) || !is_implicit<T>(part, s)) return false;
    const convolution_plan<T> plan(part, s, 1);
    return !library_serves<T>(plan.rows, s.out, plan.patch);
}

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Returns the bytes of scratch memory that a convolution needs with this many threads.
template <class T>
std::size_t convolution_scratch_bytes(convolution_part part, const convolution_shape& s, int threads) {
    const index_t all = s.window.batch * s.window.windows();
    if constexpr (detail::has_tiles<T>)
        if (detail::needs_no_patches<T>(part, s))
            return detail::implicit_convolution<T>(part, s, threads).scratch_bytes();
    if (!detail::is_plain_product(s.window)) return detail::convolution_plan<T>(part, s, threads).scratch_bytes();
    switch (part) {
    case convolution_part::forward: return gemm_scratch_bytes<T>(false, false, all, s.out, s.in, threads);
    case convolution_part::input: return gemm_scratch_bytes<T>(false, true, all, s.in, s.out, threads);
    case convolution_part::filter: return gemm_scratch_bytes<T>(true, false, s.in, s.out, all, threads);
    }
    return 0;
}

/// Returns true if several threads share a convolution.
template <class T> bool convolution_uses_threads(convolution_part part, const convolution_shape& s, int threads) {
    const index_t all = s.window.batch * s.window.windows();
    if constexpr (detail::has_tiles<T>)
        if (detail::needs_no_patches<T>(part, s)) return detail::implicit_convolution<T>(part, s, threads).threads > 1;
    if (!detail::is_plain_product(s.window)) return detail::convolution_plan<T>(part, s, threads).threads > 1;
    return threads > 1 && detail::product_is_shared<T>({false, false, all, s.out, s.in}, threads);
}

/// Convolves x with f, and applies the epilogue `last` to each row of output channels. The scratch memory holds
/// convolution_scratch_bytes for the pool's threads. The result is the same for any number of threads.
template <class T>
void convolve(const convolution_shape& s, const T* x, const T* f, T* y, void* scratch, thread_pool* pool = nullptr,
              const product_epilogue<T>& last = {}) {
    if constexpr (detail::has_tiles<T>)
        if (constexpr auto part = convolution_part::forward; detail::needs_no_patches<T>(part, s))
            return detail::implicit_convolution<T>(part, s, pool).forward(x, f, y, scratch, pool, last);
    const index_t all = s.window.batch * s.window.windows();
    if (detail::is_plain_product(s.window))
        return gemm<T>(false, false, all, s.out, s.in, x, f, y, scratch, pool, last);
    const detail::convolution_plan<T> plan(convolution_part::forward, s, pool ? pool->threads() : 1);
    plan.share(plan.blocks(), scratch, pool, [&](index_t block, index_t end, std::byte* memory) {
        T* const patches = reinterpret_cast<T*>(memory);
        for (; block < end; ++block) {
            const index_t first = block * plan.rows, count = std::min(plan.rows, all - first);
            detail::copy_patches(s.window, s.in, x, first, count, patches);
            gemm<T>(false, false, count, s.out, plan.patch, patches, f, y + first * s.out, memory + plan.patch_bytes,
                    nullptr, last);
        }
    });
}

/// Computes the gradient of a convolution by its input from g, the gradient of the result.
template <class T>
void convolve_input(const convolution_shape& s, const T* f, const T* g, T* dx, void* scratch,
                    thread_pool* pool = nullptr) {
    if constexpr (detail::has_tiles<T>)
        if (constexpr auto part = convolution_part::input; detail::needs_no_patches<T>(part, s))
            return detail::implicit_convolution<T>(part, s, pool).input(f, g, dx, scratch, pool);
    const index_t each = s.window.windows(), all = s.window.batch * each;
    if (detail::is_plain_product(s.window)) return gemm<T>(false, true, all, s.in, s.out, g, f, dx, scratch, pool);
    const detail::convolution_plan<T> plan(convolution_part::input, s, pool ? pool->threads() : 1);
    const index_t image = s.window.pixels() * s.in;
    plan.share(plan.units, scratch, pool, [&](index_t unit, index_t end, std::byte* memory) {
        T* const patches = reinterpret_cast<T*>(memory);
        for (; unit < end; ++unit) {
            const index_t from = unit * plan.images, to = std::min(s.window.batch, from + plan.images);
            std::fill_n(dx + from * image, (to - from) * image, T(0));
            for (index_t first = from * each; first < to * each; first += plan.rows) {
                const index_t count = std::min(plan.rows, to * each - first);
                gemm<T>(false, true, count, plan.patch, s.out, g + first * s.out, f, patches,
                        memory + plan.patch_bytes);
                detail::add_patches(s.window, s.in, patches, first, count, dx);
            }
        }
    });
}

/// Computes the gradient of a convolution by its filter from g, the gradient of the result.
template <class T>
void convolve_filter(const convolution_shape& s, const T* x, const T* g, T* df, void* scratch,
                     thread_pool* pool = nullptr) {
    using C = compute_type<T>;
    if constexpr (detail::has_tiles<T>)
        if (constexpr auto part = convolution_part::filter; detail::needs_no_patches<T>(part, s))
            return detail::implicit_convolution<T>(part, s, pool).by_filter(x, g, df, scratch, pool);
    const index_t all = s.window.batch * s.window.windows();
    if (detail::is_plain_product(s.window)) return gemm<T>(true, false, s.in, s.out, all, x, g, df, scratch, pool);
    const detail::convolution_plan<T> plan(convolution_part::filter, s, pool ? pool->threads() : 1);
    const index_t n = plan.filter(), blocks = plan.blocks();
    if (n == 0) return;
    C* const sums = static_cast<C*>(scratch);
    plan.share(plan.groups, scratch, pool, [&](index_t group, index_t end, std::byte* memory) {
        T* const patches = reinterpret_cast<T*>(memory);
        T* const product = reinterpret_cast<T*>(memory + plan.patch_bytes);
        for (; group < end; ++group) {
            C* const sum = sums + group * n;
            std::fill_n(sum, n, C(0));
            const index_t last = blocks * (group + 1) / plan.groups;
            for (index_t block = blocks * group / plan.groups; block < last; ++block) {
                const index_t first = block * plan.rows, count = std::min(plan.rows, all - first);
                detail::copy_patches(s.window, s.in, x, first, count, patches);
                gemm<T>(true, false, plan.patch, s.out, count, patches, g + first * s.out, product,
                        memory + plan.patch_bytes + plan.sum_bytes_of_thread);
                for (index_t i = 0; i < n; ++i) sum[i] += static_cast<C>(product[i]);
            }
        }
    });
    for (index_t group = 1; group < plan.groups; ++group)
        for (index_t i = 0; i < n; ++i) sums[i] += sums[group * n + i];
    std::transform(sums, sums + n, df, [](const C& v) { return static_cast<T>(v); });
}

// ---- depthwise: each channel has its own filters -----------------------------------------------------------------------------

}}} // namespace rill::RILL_ABI::RILL_ISA

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns the number of partial sums of convolve_filter_depthwise: one per group of images.
inline index_t depthwise_groups(const convolution_shape& s) { return std::clamp<index_t>(s.window.batch, 1, 16); }

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA

namespace rill { inline namespace RILL_ABI { inline namespace RILL_ISA {

/// Returns the bytes of scratch memory of convolve_filter_depthwise.
template <class T> std::size_t depthwise_scratch_bytes(const convolution_shape& s) {
    return static_cast<std::size_t>(detail::depthwise_groups(s) * s.window.positions() * s.in * s.out) *
           sizeof(compute_type<T>);
}

/// Convolves each channel of x with its own filters, f [size…, in, out], to in * out channels.
template <class T>
void convolve_depthwise(const convolution_shape& s, const T* x, const T* f, T* y, thread_pool* pool = nullptr) {
    using namespace detail;
    using C = compute_type<T>;
    const index_t channels = s.in * s.out, times = s.out;
    share_windows(window_rows(s.window), work_of_row(s.window, channels), pool, [&](index_t from, index_t end) {
        each_window(s.window, from, end, [&](index_t at, const placed_window& window) {
            each_chunk(channels, [&](index_t c, auto count) {
                C sum[channel_chunk] = {};
                window.each([&](index_t pixel, index_t position) {
                    const T *const left = x + pixel * s.in, *const right = f + position * channels + c;
                    if (times == 1)
                        for (int i = 0; i < count; ++i)
                            sum[i] += static_cast<C>(left[c + i]) * static_cast<C>(right[i]);
                    else
                        for (int i = 0; i < count; ++i)
                            sum[i] += static_cast<C>(left[(c + i) / times]) * static_cast<C>(right[i]);
                });
                for (int i = 0; i < count; ++i) y[at * channels + c + i] = static_cast<T>(sum[i]);
            });
        });
    });
}

/// Computes the gradient of convolve_depthwise by its input.
template <class T>
void convolve_input_depthwise(const convolution_shape& s, const T* f, const T* g, T* dx, thread_pool* pool = nullptr) {
    using namespace detail;
    using C = compute_type<T>;
    const index_t channels = s.in * s.out, times = s.out, pixels = s.window.pixels() * s.in;
    share_windows(s.window.batch, work_of_image(s.window, channels), pool, [&](index_t image, index_t end) {
        std::fill_n(dx + image * pixels, (end - image) * pixels, T(0));
        each_window_of_images(s.window, image, end, [&](index_t at, const placed_window& window) {
            const T* const from = g + at * channels;
            window.each([&](index_t pixel, index_t position) {
                T* const to = dx + pixel * s.in;
                const T* const right = f + position * channels;
                for (index_t c = 0; c < s.in; ++c) {
                    C sum = static_cast<C>(to[c]);
                    for (index_t m = c * times; m < (c + 1) * times; ++m)
                        sum += static_cast<C>(from[m]) * static_cast<C>(right[m]);
                    to[c] = static_cast<T>(sum);
                }
            });
        });
    });
}

/// Computes the gradient of convolve_depthwise by its filter.
template <class T>
void convolve_filter_depthwise(const convolution_shape& s, const T* x, const T* g, T* df, void* scratch,
                               thread_pool* pool = nullptr) {
    using namespace detail;
    using C = compute_type<T>;
    const index_t channels = s.in * s.out, times = s.out, n = s.window.positions() * channels;
    const index_t groups = depthwise_groups(s), batch = s.window.batch;
    C* const sums = static_cast<C*>(scratch);
    share_windows(groups, work_of_image(s.window, channels) * batch / groups, pool, [&](index_t group, index_t end) {
        for (; group < end; ++group) {
            C* const sum = sums + group * n;
            std::fill_n(sum, n, C(0));
            const index_t first = batch * group / groups, last = batch * (group + 1) / groups;
            each_window_of_images(s.window, first, last, [&](index_t at, const placed_window& window) {
                const T* const from = g + at * channels;
                window.each([&](index_t pixel, index_t position) {
                    C* const to = sum + position * channels;
                    const T* const left = x + pixel * s.in;
                    for (index_t c = 0; c < channels; ++c)
                        to[c] += static_cast<C>(left[times == 1 ? c : c / times]) * static_cast<C>(from[c]);
                });
            });
        }
    });
    for (index_t group = 1; group < groups; ++group)
        for (index_t i = 0; i < n; ++i) sums[i] += sums[group * n + i];
    std::transform(sums, sums + n, df, [](const C& v) { return static_cast<T>(v); });
}

/// Writes the patch of each window, [batch, windows…, positions × channels], with zeros outside the image.
template <class T>
void patches_of_windows(const window_shape& w, index_t channels, const T* x, T* to, thread_pool* pool = nullptr) {
    const index_t patch = w.positions() * channels;
    detail::share_windows(w.batch * w.windows(), patch, pool, [&](index_t first, index_t end) {
        detail::copy_patches(w, channels, x, first, end - first, to + first * patch);
    });
}

/// Adds patches to images: the gradient of patches_of_windows. dx is overwritten.
template <class T>
void patches_of_windows_gradient(const window_shape& w, index_t channels, const T* g, T* dx,
                                 thread_pool* pool = nullptr) {
    const index_t pixels = w.pixels() * channels, each = w.windows(), patch = w.positions() * channels;
    detail::share_windows(w.batch, each * patch, pool, [&](index_t image, index_t end) {
        std::fill_n(dx + image * pixels, (end - image) * pixels, T(0));
        detail::add_patches(w, channels, g + image * each * patch, image * each, (end - image) * each, dx);
    });
}

}}} // namespace rill::RILL_ABI::RILL_ISA
