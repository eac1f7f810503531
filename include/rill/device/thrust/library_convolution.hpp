// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <rill/core/allocator.hpp>
#include <rill/core/window.hpp>
#include <rill/device/execution_context.hpp>
#include <rill/device/strided_layout.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns a convolution as libraries know it: over two axes, each with the same padding on both sides. Where `s` pads more behind an image than
/// before it, the returned image is larger by the zeros behind it. Returns nullopt if that gives other windows.
inline std::optional<convolution_shape> evenly_padded(const convolution_shape& s) {
    const auto& az = s.window.axis[0];
    if (az.in != 1 || az.out != 1 || az.size != 1 || az.before != 0) return std::nullopt;
    convolution_shape even = s;
    for (const std::size_t i : {1, 2}) {
        auto& a = even.window.axis[i];
        const index_t reach = (a.size - 1) * a.dilation + 1, read = (a.out - 1) * a.stride + reach;
        if (read > a.in + 2 * a.before) a.in = read - 2 * a.before;
        if (a.in < 1 || (a.in + 2 * a.before - reach) / a.stride + 1 != a.out) return std::nullopt;
    }
    return even;
}

/// Convolutions by the library of a back end. It wants filters [out, height, width, in], ours are [height, width, in, out], and evenly padded
/// images. The copies of Device put them into scratch memory. `Backend` may have
///
///     template <class T> static bool has_convolutions();    // the library is found
///     template <class T> static bool convolves(part, s);    // it computes this shape on the current card
///     template <class T> static bool convolve(part, s, const T* a, const T* b, T* c); // operands as in `run`
template <class Device, class Backend> struct library_convolution {
    /// Returns the bytes of scratch memory.
    template <class T> static std::size_t scratch(const convolution_shape& s) {
        if constexpr (has_library) {
            const auto even = Backend::template has_convolutions<T>() ? evenly_padded(s) : std::nullopt;
            if (even)
                return filter_bytes<T>(s) + (is_larger(*even, s) ? aligned_size(size_of_image(*even) * sizeof(T)) : 0);
        }
        return 0;
    }

    /// Computes a part of a convolution: the result c of image a and filter b, the gradient c by the image of filter a and gradient b, or
    /// the gradient c by the filter of image a and gradient b. Returns false if the library does not compute it.
    template <class T>
    static bool run(const execution_context& on, convolution_part part, const convolution_shape& s, const T* a,
                    const T* b, T* c) {
        if constexpr (has_library) {
            const auto even = Backend::template has_convolutions<T>() ? evenly_padded(s) : std::nullopt;
            if (!even || !is_aligned(a, b, c) || !Backend::template convolves<T>(part, *even)) return false;
            T* const filter = static_cast<T*>(on.scratch);
            T* const image = reinterpret_cast<T*>(static_cast<std::byte*>(on.scratch) + filter_bytes<T>(s));
            const bool larger = is_larger(*even, s);
            const auto larger_image = [&](const T* x) {
                if (!larger) return x;
                Device::fill(on, static_cast<index_t>(size_of_image(*even)), image, T(0));
                Device::copy(on, x, image, common_part(s, s, *even));
                return static_cast<const T*>(image);
            };
            const index_t patch = s.window.positions() * s.in;
            bool done = false;
            switch (part) {
            case convolution_part::forward:
                transpose(on, b, filter, patch, s.out);
                return Backend::template convolve<T>(part, *even, larger_image(a), filter, c);
            case convolution_part::input:
                transpose(on, a, filter, patch, s.out);
                done = Backend::template convolve<T>(part, *even, filter, b, larger ? image : c);
                if (done && larger) Device::copy(on, image, c, common_part(s, *even, s));
                return done;
            case convolution_part::filter:
                done = Backend::template convolve<T>(part, *even, larger_image(a), b, filter);
                if (done) transpose(on, filter, c, s.out, patch);
                return done;
            }
        }
        return false;
    }

private:
    static constexpr bool has_library = requires { Backend::template has_convolutions<float>(); };

    static std::size_t size_of_image(const convolution_shape& s) {
        return static_cast<std::size_t>(s.window.batch * s.window.pixels() * s.in);
    }
    template <class T> static std::size_t filter_bytes(const convolution_shape& s) {
        return aligned_size(static_cast<std::size_t>(s.window.positions() * s.in * s.out) * sizeof(T));
    }
    static bool is_larger(const convolution_shape& even, const convolution_shape& s) {
        return even.window.pixels() != s.window.pixels();
    }
    template <class... P> static bool is_aligned(const P*... all) {
        constexpr std::uintptr_t alignment = 16; // libraries read elements together
        return ((std::bit_cast<std::uintptr_t>(all) % alignment == 0) && ...);
    }
    /// Returns the copy of the elements of an image that are elements of a larger or smaller one, too.
    static strided_layout common_part(const convolution_shape& of, const convolution_shape& from,
                                      const convolution_shape& to) {
        const auto row = [](const convolution_shape& s) { return s.window.axis[2].in * s.in; };
        const auto rows = [](const convolution_shape& s) { return s.window.axis[1].in; };
        strided_layout l;
        l.push(of.window.batch, rows(from) * row(from), rows(to) * row(to));
        l.push(rows(of), row(from), row(to));
        l.push(row(of), 1, 1);
        l.collapse();
        return l;
    }
    template <class T>
    static void transpose(const execution_context& on, const T* from, T* to, index_t rows, index_t columns) {
        strided_layout l;
        l.push(columns, 1, rows);
        l.push(rows, columns, 1);
        l.collapse();
        Device::copy(on, from, to, l);
    }
};

}}} // namespace rill::RILL_ABI::detail
