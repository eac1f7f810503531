// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include <rill/core/allocator.hpp>
#include <rill/device/cpu/gemm/gemm.hpp>
#include <rill/device/cpu/primitives/windows.hpp>

// Convolutions without a matrix of patches. A band of an image is copied once, with its padding. A patch is then a few runs of the padded
// rows, and the tiles of the matrix product read the patches of their windows in place.

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Returns the number of separate sums of a gradient by the filter, of `bytes` each. They are added in order.
inline index_t groups_of_sums(index_t bytes, index_t blocks) {
    constexpr index_t most = 16, all_bytes = 1 << 24;
    return std::clamp<index_t>(std::min(all_bytes / std::max<index_t>(bytes, 1), blocks), 1, most);
}

/// Calls f(from, end, memory of the thread) for parts of [0, n). Each of `threads` threads has so many bytes of `memory`.
template <class F>
void share_with_memory(index_t n, int threads, std::byte* memory, std::size_t bytes, thread_pool* pool, const F& f) {
    if (threads <= 1 || !pool) return f(index_t(0), n, memory);
    pool->run(threads,
              [&](int i) { f(n * i / threads, n * (i + 1) / threads, memory + bytes * static_cast<std::size_t>(i)); });
}

/// The division of output into bands: some windows of one row, some rows of one plane, or some planes. The padded input and the output
/// of a band fit the L2 cache. A plane is the output of one image at one place along the first axis.
template <class T> struct window_bands {
    struct band {
        index_t plane, planes, y, rows, x, columns;
    };

    window_shape w;
    index_t channels, out;
    index_t planes, rows, columns; // of a full band
    index_t pitch, plane_pitch;    // elements of a padded row, and of all padded rows of a plane

    window_bands(const window_shape& shape, index_t in_channels, index_t out_channels)
        : w(shape), channels(in_channels), out(out_channels) {
        const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
        constexpr index_t most = band_bytes / static_cast<index_t>(sizeof(T));
        const auto row_of = [&](index_t n) { return az.size * ay.stride * width(n) * channels + n * out; };
        const auto plane_of = [&](index_t n) {
            return az.size * height(n) * width(ax.out) * channels + n * ax.out * out;
        };
        planes = rows = 1;
        columns = ax.out;
        if (plane_of(1) > most) {
            const index_t fit = std::max<index_t>(most / (plane_of(1) / ax.out + 1), 64);
            columns = even_part(ax.out, fit, 1);
        } else if (plane_of(ay.out) > most) {
            const index_t halo = plane_of(1) - row_of(ax.out);
            rows = even_part(ay.out, std::max<index_t>((most - halo) / row_of(ax.out), 1), 1);
        } else {
            rows = ay.out;
            planes = std::clamp<index_t>(most / plane_of(ay.out), 1, all_planes());
        }
        pitch = width(columns) * channels;
        plane_pitch = az.size * height(rows) * pitch;
    }

    index_t bands() const {
        return parts(all_planes(), planes) * parts(w.axis[1].out, rows) * parts(w.axis[2].out, columns);
    }
    index_t windows() const { return planes * rows * columns; }
    index_t padded() const { return planes * plane_pitch; }
    band at(index_t i) const {
        const auto &ay = w.axis[1], &ax = w.axis[2];
        const index_t across = parts(ax.out, columns), down = parts(ay.out, rows);
        band b;
        b.x = i % across * columns;
        b.y = i / across % down * rows;
        b.plane = i / (across * down) * planes;
        b.columns = std::min(columns, ax.out - b.x);
        b.rows = std::min(rows, ay.out - b.y);
        b.planes = std::min(planes, all_planes() - b.plane);
        return b;
    }
    index_t first_window(const band& b) const { return (b.plane * w.axis[1].out + b.y) * w.axis[2].out + b.x; }

    /// Copies what the windows of a band read, with zeros outside the image.
    void copy(const band& b, const T* x, T* to) const {
        const auto &az = w.axis[0], &ay = w.axis[1], &ax = w.axis[2];
        const index_t left = b.x * ax.stride - ax.before, end = std::min(width(columns), ax.in - left);
        const index_t from = std::min(std::max<index_t>(-left, 0), width(columns));
        const index_t count = std::max<index_t>(end - from, 0);
        for (index_t plane = b.plane; plane < b.plane + b.planes; ++plane)
            for (index_t kz = 0; kz < az.size; ++kz) {
                const index_t z = plane % az.out * az.stride - az.before + kz * az.dilation;
                for (index_t i = 0; i < height(rows); ++i, to += pitch) {
                    const index_t y = b.y * ay.stride - ay.before + i;
                    if (z < 0 || z >= az.in || y < 0 || y >= ay.in || count == 0) {
                        std::fill_n(to, pitch, T(0));
                        continue;
                    }
                    const index_t row = (plane / az.out * az.in + z) * ay.in + y;
                    std::fill_n(to, from * channels, T(0));
                    std::copy_n(x + (row * ax.in + left + from) * channels, count * channels, to + from * channels);
                    std::fill(to + (from + count) * channels, to + pitch, T(0));
                }
            }
    }
    /// Writes the offsets of a full band's windows in its padded rows.
    void offsets_of_windows(index_t* to) const {
        for (index_t plane = 0; plane < planes; ++plane)
            for (index_t y = 0; y < rows; ++y)
                for (index_t x = 0; x < columns; ++x)
                    *to++ = plane * plane_pitch + y * w.axis[1].stride * pitch + x * w.axis[2].stride * channels;
    }
    /// Writes the offsets of a window's elements from its first one.
    void offsets_of_elements(index_t* to) const {
        for (index_t kz = 0; kz < w.axis[0].size; ++kz)
            for (index_t ky = 0; ky < w.axis[1].size; ++ky)
                for (index_t i = 0; i < w.axis[2].size * channels; ++i) *to++ = offset_of_run(kz, ky) + i;
    }
    index_t offset_of_run(index_t kz, index_t ky) const {
        return (kz * height(rows) + ky * w.axis[1].dilation) * pitch;
    }

    static index_t parts(index_t all, index_t each) { return (all + each - 1) / each; }

private:
    static constexpr index_t band_bytes = 1 << 19;

    index_t all_planes() const { return w.batch * w.axis[0].out; }
    /// Returns the extent of the input under n windows.
    static index_t reach(const window_axis& a, index_t n) { return (n - 1) * a.stride + (a.size - 1) * a.dilation + 1; }
    index_t width(index_t n) const { return reach(w.axis[2], n); }
    index_t height(index_t n) const { return reach(w.axis[1], n); }
};

/// Returns the convolution of the output's gradient that is the input's gradient, for strides of 1. Its filter is the convolution's, turned
/// around and with its channels swapped.
inline convolution_shape turned(convolution_shape s) {
    std::swap(s.in, s.out);
    for (auto& a : s.window.axis) {
        std::swap(a.in, a.out);
        a.before = (a.size - 1) * a.dilation - a.before;
    }
    return s;
}

/// Returns true if a convolution can do without patches, and gains by it. The decision depends on the shape alone.
template <class T> bool is_implicit(convolution_part part, const convolution_shape& shape) {
    if constexpr (has_tiles<T>) {
        const auto s = part == convolution_part::input ? turned(shape) : shape;
        const auto &ay = s.window.axis[1], &ax = s.window.axis[2];
        const index_t patch = s.window.positions() * s.in, windows = s.window.batch * s.window.windows();
        if (patch == 0 || windows == 0 || s.out < 2) return false;
        if (part == convolution_part::input &&
            !std::ranges::all_of(s.window.axis, [](const window_axis& a) { return a.stride == 1; }))
            return false;
        // measured: a large filter takes longer to turn than its few windows gain
        constexpr index_t large = (4 << 20) / static_cast<index_t>(sizeof(T));
        if (part == convolution_part::input && patch * s.out > large && windows < 1024) return false;
        if (part == convolution_part::filter && ay.out * ax.out < 64) return false; // its sums would be too short
        return ax.dilation == 1 && ax.stride <= ax.size && ay.stride <= ay.size && patch <= longest_sum;
    } else {
        return false;
    }
}

template <class T> struct implicit_convolution; // only for types that have tiles

#if RILL_SIMD_REGISTERS

/// A convolution without patches: its division, and its scratch memory.
template <class T> struct implicit_convolution {
    convolution_part part;
    convolution_shape s; // for the gradient by the input: the convolution of the output's gradient
    window_bands<T> bands;
    index_t patch, groups = 1; // gradient by the filter: separate sums, added in order
    int threads;

    implicit_convolution(convolution_part p, const convolution_shape& shape, int most_threads)
        : part(p), s(p == convolution_part::input ? turned(shape) : shape), bands(s.window, s.in, s.out),
          patch(s.window.positions() * s.in) {
        const double work = 2. * static_cast<double>(s.window.batch * s.window.windows()) * static_cast<double>(patch) *
                            static_cast<double>(s.out);
        index_t shared = bands.bands();
        if (part == convolution_part::filter)
            shared = groups = groups_of_sums(filter() * static_cast<index_t>(sizeof(T)), shared);
        threads = work < shared_from ? 1 : static_cast<int>(std::min<index_t>(most_threads, shared));
    }
    implicit_convolution(convolution_part p, const convolution_shape& shape, const thread_pool* pool)
        : implicit_convolution(p, shape, pool ? pool->threads() : 1) {}
    std::size_t scratch_bytes() const {
        return shared_bytes() + thread_bytes() * static_cast<std::size_t>(std::max(threads, 1));
    }

    void forward(const T* x, const T* f, T* y, void* scratch, thread_pool* pool,
                 const product_epilogue<T>& last) const {
        index_t* const offsets = static_cast<index_t*>(scratch);
        bands.offsets_of_windows(offsets);
        share(bands.bands(), scratch, pool, [&](index_t i, index_t end, T* padded, T* copy) {
            for (; i < end; ++i) {
                const auto band = bands.at(i);
                bands.copy(band, x, padded);
                multiply_band(band, padded, offsets, f, y + bands.first_window(band) * s.out, copy, last);
            }
        });
    }
    void input(const T* f, const T* g, T* dx, void* scratch, thread_pool* pool) const {
        T* const turned_filter = reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + offset_bytes());
        turn(f, turned_filter);
        forward(g, turned_filter, dx, scratch, pool, {});
    }
    void by_filter(const T* x, const T* g, T* df, void* scratch, thread_pool* pool) const {
        index_t* const offsets = static_cast<index_t*>(scratch);
        T* const sums = reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + offset_bytes());
        bands.offsets_of_elements(offsets);
        const index_t n = filter(), all = bands.bands();
        const auto sum_of = [&](index_t group) { return group == 0 ? df : sums + (group - 1) * n; };
        share(groups, scratch, pool, [&](index_t group, index_t end, T* padded, T* copy) {
            for (; group < end; ++group) {
                const index_t first = all * group / groups, last = all * (group + 1) / groups;
                for (index_t i = first; i < last; ++i) {
                    const auto band = bands.at(i);
                    bands.copy(band, x, padded);
                    add_band(band, padded, offsets, g + bands.first_window(band) * s.out, sum_of(group), copy,
                             i > first);
                }
            }
        });
        for (index_t group = 1; group < groups; ++group)
            for (index_t i = 0; i < n; ++i) df[i] += sum_of(group)[i];
    }

private:
    static constexpr index_t most_k = product_blocks<T>::most_k;

    index_t filter() const { return patch * s.out; }
    std::size_t offset_bytes() const {
        const index_t n = part == convolution_part::filter ? patch : bands.windows();
        return aligned_size(static_cast<std::size_t>(n) * sizeof(index_t));
    }
    /// Memory of all threads: offsets, and the turned filter or the sums of groups.
    std::size_t shared_bytes() const {
        const index_t filters = part == convolution_part::forward ? 0
                                : part == convolution_part::input ? 1
                                                                  : groups - 1;
        return offset_bytes() + aligned_size(static_cast<std::size_t>(filters * filter()) * sizeof(T));
    }
    std::size_t padded_bytes() const { return aligned_size(static_cast<std::size_t>(bands.padded()) * sizeof(T)); }
    std::size_t thread_bytes() const {
        return padded_bytes() + aligned_size(static_cast<std::size_t>(most_k * tile_shape<T>::columns) * sizeof(T));
    }

    /// Calls f(from, end, padded rows, copied columns) for parts of [0, n).
    template <class F> void share(index_t n, void* scratch, thread_pool* pool, const F& f) const {
        auto* const memory = static_cast<std::byte*>(scratch) + shared_bytes();
        share_with_memory(n, threads, memory, thread_bytes(), pool, [&](index_t from, index_t end, std::byte* own) {
            f(from, end, reinterpret_cast<T*>(own), reinterpret_cast<T*>(own + padded_bytes()));
        });
    }

    /// Multiplies the windows of a band by the filter.
    void multiply_band(const typename window_bands<T>::band& b, const T* padded, const index_t* offsets, const T* f,
                       T* c, T* copy, const product_epilogue<T>& last) const {
        const auto &az = s.window.axis[0], &ay = s.window.axis[1];
        const index_t run = s.window.axis[2].size * s.in, m = b.planes * b.rows * b.columns;
        const index_t runs = even_part(ay.size, std::max<index_t>(most_k / run, 1), 1);
        const index_t part_of_run = even_part(run, most_k, 8);
        tile_operands<T> o{};
        o.a_step = 1;
        o.copy = copy;
        for (index_t kz = 0; kz < az.size; ++kz)
            for (index_t ky = 0; ky < ay.size; ky += runs)
                for (index_t l = 0; l < run; l += part_of_run) {
                    o.a = padded + bands.offset_of_run(kz, ky) + l;
                    o.k = std::min(part_of_run, run - l);
                    o.runs = std::min(runs, ay.size - ky);
                    o.next_run = ay.dilation * bands.pitch - o.k;
                    o.add = kz > 0 || ky > 0 || l > 0;
                    const bool ends = kz + 1 == az.size && ky + o.runs == ay.size && l + o.k == run;
                    gathered_product(o, offsets, m, f + ((kz * ay.size + ky) * run + l) * s.out, s.out, c,
                                     ends ? last : product_epilogue<T>());
                }
    }
    /// Adds the products of a band's windows and their gradients to the filter's gradient, or overwrites it.
    void add_band(const typename window_bands<T>::band& b, const T* padded, const index_t* offsets, const T* g, T* df,
                  T* copy, bool add) const {
        const auto &ay = s.window.axis[1], &ax = s.window.axis[2];
        const index_t rows = even_part(b.rows, std::max<index_t>(most_k / b.columns, 1), 1);
        const index_t part_of_row = even_part(b.columns, most_k, 8);
        tile_operands<T> o{};
        o.a_step = ax.stride * s.in;
        o.copy = copy;
        o.add = add;
        for (index_t plane = 0; plane < b.planes; ++plane)
            for (index_t y = 0; y < b.rows; y += rows)
                for (index_t x = 0; x < b.columns; x += part_of_row) {
                    o.a = padded + plane * bands.plane_pitch + y * ay.stride * bands.pitch + x * o.a_step;
                    o.k = std::min(part_of_row, b.columns - x);
                    o.runs = std::min(rows, b.rows - y);
                    o.next_run = ay.stride * bands.pitch - o.k * o.a_step;
                    gathered_product(o, offsets, patch, g + ((plane * b.rows + y) * b.columns + x) * s.out, s.out, df,
                                     {});
                    o.add = true;
                }
    }
    /// Turns a filter around and swaps its channels.
    void turn(const T* f, T* to) const {
        constexpr int lanes = tile_shape<T>::lanes;
        const index_t positions = s.window.positions();
        for (index_t i = 0; i < positions; ++i) {
            const T* const from = f + (positions - 1 - i) * s.in * s.out; // [outputs, inputs]
            T* const here = to + i * s.in * s.out;
            index_t row = 0;
            for (; row + lanes <= s.out; row += lanes)
                interleave_rows<lanes>(from + row * s.in, s.in, lanes, s.in, here + row, s.out);
            for (; row < s.out; ++row)
                for (index_t c = 0; c < s.in; ++c) here[c * s.out + row] = from[row * s.in + c];
        }
    }
};

#endif

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
