// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include <rill/core/shape_rules.hpp>

// Windows over images: their description, and the shape rules of convolutions and pools.

namespace rill { inline namespace RILL_ABI {

/// The numbers of elements before and after an axis. `padding::same` and `padding::valid` set the padding of a window. `same` pads with
/// zeros to ceil(extent / stride) results; `valid` does not pad.
struct padding {
    enum kind : std::int32_t { valid, same, explicit_pads };
    index_t before = 0, after = 0;

    friend constexpr bool operator==(const padding&, const padding&) = default;
};

/// The largest number of axes that a window walks over.
inline constexpr int max_window_axes = 3;

/// One number per axis of a window, or one for all axes. An empty one stands for the default.
struct window_numbers {
    int count = 0;
    std::array<index_t, max_window_axes> number{};

    constexpr window_numbers() = default;
    /// Constructs from all members, as nvcc spells a template argument.
    constexpr window_numbers(int given, const std::array<index_t, max_window_axes>& all) : count(given), number(all) {}
    constexpr window_numbers(std::initializer_list<index_t> values) {
        for (const index_t v : values) {
            if (count >= max_window_axes) detail::refuse_rank("window: at most 3 axes");
            number[count++] = v;
        }
    }
    constexpr index_t along(int axis, index_t otherwise) const {
        return count == 0 ? otherwise : number[count == 1 ? 0 : axis];
    }
    friend constexpr bool operator==(const window_numbers&, const window_numbers&) = default;
};

/// Explicit padding for each axis of a window.
struct window_pads {
    int count = 0;
    std::array<padding, max_window_axes> pads{};

    constexpr window_pads() = default;
    /// Constructs from all members, as nvcc spells a template argument.
    constexpr window_pads(int given, const std::array<padding, max_window_axes>& all) : count(given), pads(all) {}
    constexpr window_pads(std::initializer_list<padding> values) {
        for (const padding& p : values) {
            if (count >= max_window_axes) detail::refuse_rank("window: at most 3 axes");
            pads[count++] = p;
        }
    }
    friend constexpr bool operator==(const window_pads&, const window_pads&) = default;
};

/// A window: window{.size = {2, 2}, .strides = {2, 2}, .padding = padding::same}. A convolution takes the size from its filter. The
/// strides of a convolution are 1 by default, those of a pool its size. `pads` replaces `padding`. A structural type: a template argument.
struct window {
    window_numbers size = {}, strides = {}, dilations = {};
    rill::padding::kind padding = rill::padding::valid;
    window_pads pads = {};

    friend constexpr bool operator==(const window&, const window&) = default;
};

/// A window along one axis with all sizes known. `before` counts the zeros before the first element.
struct window_axis {
    index_t in = 1, out = 1, size = 1, stride = 1, dilation = 1, before = 0;
};

/// A window over images [batch, in…, channels] with all sizes known. Images with fewer axes get leading axes of extent 1.
struct window_shape {
    std::array<window_axis, max_window_axes> axis{};
    index_t batch = 0;

    /// Returns the number of windows in an image.
    constexpr index_t windows() const { return axis[0].out * axis[1].out * axis[2].out; }
    /// Returns the number of elements of one channel of an image.
    constexpr index_t pixels() const { return axis[0].in * axis[1].in * axis[2].in; }
    /// Returns the number of positions in a window.
    constexpr index_t positions() const { return axis[0].size * axis[1].size * axis[2].size; }
};

/// A convolution of x [batch, in…, in] and f [size…, in, out] to [batch, out…, out]. If depthwise, `out` counts filters of each
/// channel: f is [size…, in, out] and the result [batch, out…, in * out].
struct convolution_shape {
    window_shape window;
    index_t in = 0, out = 0; // channels
};

/// The three products of a convolution: the result, and the gradients by the input and by the filter.
enum class convolution_part : std::uint8_t { forward, input, filter };

namespace rules {

/// A window along an axis; `axis.out` is dyn if unknown.
struct window_axis_result {
    window_axis axis;
    const char* broken = nullptr;
};

constexpr const char* checked_window(const window& w, int axes) {
    const auto fits = [&](const window_numbers& n) { return n.count <= 1 || n.count == axes; };
    if (!fits(w.size) || !fits(w.strides) || !fits(w.dilations) || (w.pads.count != 0 && w.pads.count != axes))
        return "the window has another number of axes than the image";
    if (w.padding != padding::valid && w.padding != padding::same && w.padding != padding::explicit_pads)
        return "the padding is not valid, same or explicit";
    return nullptr;
}

/// Places a window of `size` along axis i of an image with extent `in`; either may be dyn.
constexpr window_axis_result place_window(index_t in, index_t size, const window& w, int i, index_t default_stride) {
    constexpr index_t most = std::numeric_limits<std::int32_t>::max();
    window_axis a{in, dyn, size, w.strides.along(i, default_stride), w.dilations.along(i, 1), 0};
    const padding pads = w.pads.count == 0 ? padding{} : w.pads.pads[i];
    if (a.stride < 1) return {a, "a stride must be at least 1"};
    if (a.dilation < 1) return {a, "a dilation must be at least 1"};
    if (pads.before < 0 || pads.after < 0) return {a, "a padding must not be negative"};
    if (size == 0) return {a, "the window is empty"};
    if (a.stride > most || a.dilation > most || size > most || pads.before > most || pads.after > most ||
        in > std::numeric_limits<index_t>::max() / 4)
        return {a, "there would be more elements than an index counts"};
    if (in == dyn) return {a};
    if (w.padding == padding::same && w.pads.count == 0) {
        a.out = (in + a.stride - 1) / a.stride;
        if (size == dyn || in == 0) return {a};
        const index_t needed = (a.out - 1) * a.stride + (size - 1) * a.dilation + 1;
        a.before = needed > in ? (needed - in) / 2 : 0;
        return {a};
    }
    a.before = pads.before;
    if (size == dyn) return {a};
    const index_t padded = in + pads.before + pads.after, reach = (size - 1) * a.dilation + 1;
    if (padded < reach) return {a, "the window is larger than the image"};
    a.out = (padded - reach) / a.stride + 1;
    return {a};
}

constexpr const char* image_rank_phrase(int axes) {
    return axes == 1   ? "the image must have 3 dimensions: [batch, width, channels]"
           : axes == 2 ? "the image must have 4 dimensions: [batch, height, width, channels]"
                       : "the image must have 5 dimensions: [batch, depth, height, width, channels]";
}

/// Returns the reason that refuses an image x whose channels are not the `taken` ones of its filter.
constexpr const char* differing_channels(const dims& x, index_t taken) {
    return x[1] == taken ? "the channels differ, and the image looks like [batch, channels, ..]: "
                           "transpose it to [batch, .., channels]"
                         : "the channels of image and filter differ";
}

/// Computes the result shape of a convolution of x [batch, in…, channels] and f [size…, channels, out]; if depthwise, f is [size…,
/// channels, multiples]. Sets `made`, if not null, to the window's shape if all extents are known.
constexpr shape_result convolution(const dims& x, const dims& f, const window& w, bool depthwise = false,
                                   window_shape* made = nullptr) {
    if (!x.known_rank() && !f.known_rank()) return {dims::unknown()};
    const int rank = x.known_rank() ? x.rank : f.rank, axes = rank - 2;
    const auto refuse = [&](const char* why) { return shape_result{of_rank(rank < 1 ? 1 : rank), why}; };
    if (axes < 1 || axes > max_window_axes) return refuse("the image must have 1 to 3 axes between batch and channels");
    if (f.known_rank() && f.rank != rank)
        return refuse("the filter must have as many dimensions as the image: [size.., channels, outputs]");
    if (const char* broken = checked_window(w, axes)) return refuse(broken);
    if (w.size.count != 0) return refuse("the window's size is the filter's: leave it out");
    const index_t channels = x.known_rank() ? x[rank - 1] : dyn;
    const index_t taken = f.known_rank() ? f[axes] : dyn, filters = f.known_rank() ? f[axes + 1] : dyn;
    if (!extents_compatible(channels, taken)) return refuse(differing_channels(x, taken));
    dims r = of_rank(rank);
    r[0] = x.known_rank() ? x[0] : dyn;
    for (int i = 0; i < axes; ++i) {
        const auto placed = place_window(x.known_rank() ? x[i + 1] : dyn, f.known_rank() ? f[i] : dyn, w, i, 1);
        if (placed.broken) return refuse(placed.broken);
        r[i + 1] = placed.axis.out;
        if (made) made->axis[max_window_axes - axes + i] = placed.axis;
    }
    if (made) made->batch = r[0];
    const index_t in = channels == dyn ? taken : channels;
    r[rank - 1] = !depthwise ? filters : in == dyn || filters == dyn ? dyn : in * filters;
    return {r};
}

/// Computes the result shape of a pool over x [batch, in…, channels], with one element per window.
constexpr shape_result pool(const dims& x, const window& w, window_shape* made = nullptr) {
    if (!x.known_rank()) return {dims::unknown()};
    const int axes = x.rank - 2;
    const auto refuse = [&](const char* why) { return shape_result{of_rank(x.rank < 1 ? 1 : x.rank), why}; };
    if (axes < 1 || axes > max_window_axes) return refuse("the image must have 1 to 3 axes between batch and channels");
    if (const char* broken = checked_window(w, axes)) return refuse(broken);
    if (w.size.count == 0) return refuse("the window has no size");
    if (w.dilations.count != 0) return refuse("a pool takes no dilations");
    dims r = x;
    for (int i = 0; i < axes; ++i) {
        const index_t size = w.size.along(i, 1);
        if (size < 1) return refuse("the window is empty");
        const auto placed = place_window(x[i + 1], size, w, i, size);
        if (placed.broken) return refuse(placed.broken);
        const bool is_empty_image = x[i + 1] == 0 && placed.axis.out > 0;
        if (is_empty_image || (w.pads.count != 0 && (w.pads.pads[i].before >= size || w.pads.pads[i].after >= size)))
            return refuse("a window would lie in the padding alone");
        r[i + 1] = placed.axis.out;
        if (made) made->axis[max_window_axes - axes + i] = placed.axis;
    }
    if (made) made->batch = r[0];
    return {r};
}

/// Computes the result shape of a transposed convolution of x [batch, in…, channels] with f [size…, out, channels]. Each extent is
/// multiplied by the stride. Without padding, the excess of the window over the stride is added.
constexpr shape_result convolution_transpose(const dims& x, const dims& f, const window& w) {
    if (!x.known_rank() || !f.known_rank()) return {dims::unknown()};
    const int axes = x.rank - 2;
    const auto refuse = [&](const char* why) { return shape_result{of_rank(x.rank < 1 ? 1 : x.rank), why}; };
    if (axes < 1 || axes > max_window_axes) return refuse("the image must have 1 to 3 axes between batch and channels");
    if (f.rank != x.rank)
        return refuse("the filter must have as many dimensions as the image: [size.., outputs, channels]");
    if (const char* broken = checked_window(w, axes)) return refuse(broken);
    if (w.pads.count != 0 || w.padding == padding::explicit_pads)
        return refuse("a transposed convolution takes the padding valid or same");
    if (w.size.count != 0) return refuse("the window's size is the filter's: leave it out");
    if (!extents_compatible(x[x.rank - 1], f[axes + 1])) return refuse(differing_channels(x, f[axes + 1]));
    dims r = x;
    for (int i = 0; i < axes; ++i) {
        r[i + 1] = dyn;
        if (f[i] == 0) return refuse("the window is empty");
        // no image has windows without padding and gives a result without elements
        if (x[i + 1] == 0 && w.padding == padding::valid) return refuse("an extent of the image is 0");
        if (x[i + 1] == dyn || f[i] == dyn) continue;
        const auto stride = w.strides.along(i, 1), dilation = w.dilations.along(i, 1);
        constexpr index_t most = std::numeric_limits<std::int32_t>::max();
        if (stride < 1) return refuse("a stride must be at least 1");
        if (dilation < 1) return refuse("a dilation must be at least 1");
        if (stride > most || dilation > most || x[i + 1] > most || f[i] > most)
            return refuse("there would be more elements than an index counts");
        const index_t reach = (f[i] - 1) * dilation + 1;
        r[i + 1] = x[i + 1] * stride + (w.padding == padding::valid && reach > stride ? reach - stride : 0);
    }
    r[x.rank - 1] = f[axes];
    return {r};
}

} // namespace rules

}} // namespace rill::RILL_ABI
