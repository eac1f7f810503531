// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <rill/core/dims.hpp>
#include <rill/core/host_array.hpp>

namespace rill { inline namespace RILL_ABI {

/// Encodes an image, uint8 [height, width, channels], as a PNG file with 1 to 4 channels: grey, grey and alpha, RGB, RGBA. Throws
/// invalid_argument for other channels, and for an image without pixels.
std::string png_bytes(const host_array<std::uint8_t, 3>& image);

namespace detail {

/// Encodes an image of 8-bit samples as a PNG file. `channels`: 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA). Compresses if zlib is
/// available. Throws invalid_argument for other channels, and for an image without pixels.
std::string png_bytes(std::span<const std::uint8_t> samples, index_t height, index_t width, index_t channels);

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/io/png.ipp>
#endif
