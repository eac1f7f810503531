// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/ops/array/reverse.hpp>
#include <rill/ops/array/slice.hpp>
#include <rill/ops/math/add.hpp>
#include <rill/ops/math/cast.hpp>
#include <rill/ops/math/div.hpp>
#include <rill/ops/math/maximum.hpp>
#include <rill/ops/math/mul.hpp>
#include <rill/ops/math/reduce_mean.hpp>
#include <rill/ops/math/reduce_sum.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/square.hpp>
#include <rill/ops/math/sub.hpp>

// Functions of images [.., height, width, channels], composed of other ops.

namespace rill { inline namespace RILL_ABI {

template <int Rank> inline constexpr bool has_image_axes = Rank >= 3;

/// Flips images from left to right.
template <typed_operand X>
auto flip_left_right(const X& images, const std::source_location& where = std::source_location::current()) {
    static_assert(has_image_axes<extents_of<X>::rank>, "flip_left_right: images are [.., height, width, channels]");
    return reverse<-2>(images, where);
}
/// Flips images upside down.
template <typed_operand X>
auto flip_up_down(const X& images, const std::source_location& where = std::source_location::current()) {
    static_assert(has_image_axes<extents_of<X>::rank>, "flip_up_down: images are [.., height, width, channels]");
    return reverse<-3>(images, where);
}
/// Crops an image [height, width, Channels] at the top left corner (y, x): crop<24, 24, 3>(image, 2, 2).
template <index_t H, index_t W, index_t Channels, typed_operand X>
auto crop(const X& image, index_t y, index_t x, const std::source_location& where = std::source_location::current()) {
    static_assert(extents_of<X>::rank == 3, "crop: the image is [height, width, channels]");
    return slice<H, W, Channels>(image, {y, x, 0}, where);
}
/// Adds a number to each pixel.
template <typed_operand X> auto adjust_brightness(const X& images, float delta) {
    return sealed(cast<float>(images) + delta);
}
/// Scales the distance of each pixel from the mean of its channel.
template <typed_operand X> auto adjust_contrast(const X& images, float factor) {
    static_assert(has_image_axes<extents_of<X>::rank>, "adjust_contrast: images are [.., height, width, channels]");
    const auto x = sealed(cast<float>(images));
    const auto mean = sealed(reduce_mean<-3, -2>(x, keep_dims));
    return sealed((x - mean) * factor + mean);
}
/// Normalizes each image to mean 0 and variance 1. The standard deviation counts as 1 / sqrt(elements) at least.
template <typed_operand X> auto per_image_standardization(const X& images) {
    static_assert(has_image_axes<extents_of<X>::rank>,
                  "per_image_standardization: images are [.., height, width, channels]");
    const auto x = sealed(cast<float>(images));
    const auto mean = sealed(reduce_mean<-3, -2, -1>(x, keep_dims));
    const auto variance = sealed(reduce_mean<-3, -2, -1>(square(x - mean), keep_dims));
    const auto share =
        sealed(reduce_mean<-3, -2, -1>(x * 0.f + 1.f, keep_dims) / (reduce_sum<-3, -2, -1>(x * 0.f + 1.f, keep_dims)));
    return sealed((x - mean) / sqrt(maximum(variance, share)));
}

}} // namespace rill::RILL_ABI
