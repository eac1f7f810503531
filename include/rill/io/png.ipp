// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/png.hpp>

#include <array>

#include <rill/core/error.hpp>
#include <rill/io/zlib.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

inline std::string big_endian(std::uint32_t v) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(v >> shift & 255));
    return bytes;
}

inline std::string png_chunk(const std::string& kind, const std::string& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + kind + data + big_endian(crc32(data, crc32(kind)));
}

RILL_COLD std::string png_bytes(std::span<const std::uint8_t> samples, index_t height, index_t width,
                                index_t channels) {
    constexpr index_t most = 1 << 24;
    if (channels < 1 || channels > 4 || height < 1 || width < 1 || height > most || width > most ||
        static_cast<index_t>(samples.size()) != height * width * channels)
        throw invalid_argument("an image of " + std::to_string(height) + " x " + std::to_string(width) +
                               " pixels with " + std::to_string(channels) + " channels; 1 to 4 channels are accepted");
    constexpr std::array<char, 5> colour_types{0, 0, 4, 2, 6};
    std::string header = big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height));
    header += {8, colour_types[static_cast<std::size_t>(channels)], 0, 0, 0};
    std::string rows;
    const auto row = static_cast<std::size_t>(width * channels);
    for (std::size_t at = 0; at < samples.size(); at += row) {
        rows.push_back('\0'); // no filter
        rows.append(reinterpret_cast<const char*>(samples.data()) + at, row);
    }
    return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", zlib_stream(rows)) +
           png_chunk("IEND", "");
}

} // namespace detail

RILL_COLD std::string png_bytes(const host_array<std::uint8_t, 3>& image) {
    return detail::png_bytes({image.data(), image.size()}, static_cast<index_t>(image.shape(0)),
                             static_cast<index_t>(image.shape(1)), static_cast<index_t>(image.shape(2)));
}

}} // namespace rill::RILL_ABI
