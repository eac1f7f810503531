// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/io/image.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include <rill/core/error.hpp>
#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// libpng's png_image of version 1, in the layout of its stable ABI.
struct png_image_state {
    void* opaque = nullptr;
    std::uint32_t version = 1, width = 0, height = 0, format = 0, flags = 0, colormap_entries = 0, warning_or_error = 0;
    char message[64] = {};
};

struct png_functions {
    int (*begin)(png_image_state*, const void*, std::size_t) = nullptr;
    int (*finish)(png_image_state*, const void* background, void* buffer, std::int32_t stride,
                  void* colormap) = nullptr;
    void (*release)(png_image_state*) = nullptr;

    bool complete() const { return begin && finish && release; }
    static const png_functions& of_process() {
        static const png_functions all = [] {
            png_functions f;
            for (const char* file : {"libpng16.so.16", "libpng16.16.dylib"})
                if (void* library = load_library(file); library && !f.complete()) {
                    f.begin = reinterpret_cast<decltype(f.begin)>(
                        library_function(library, "png_image_begin_read_from_memory"));
                    f.finish = reinterpret_cast<decltype(f.finish)>(library_function(library, "png_image_finish_read"));
                    f.release = reinterpret_cast<decltype(f.release)>(library_function(library, "png_image_free"));
                }
            return f;
        }();
        return all;
    }
};

struct jpeg_functions {
    void* (*init)() = nullptr;
    int (*header)(void*, const unsigned char*, unsigned long, int*, int*, int*, int*) = nullptr;
    int (*decompress)(void*, const unsigned char*, unsigned long, unsigned char*, int, int, int, int, int) = nullptr;
    int (*destroy)(void*) = nullptr;
    char* (*problem)(void*) = nullptr;

    bool complete() const { return init && header && decompress && destroy && problem; }
    static const jpeg_functions& of_process() {
        static const jpeg_functions all = [] {
            jpeg_functions f;
            for (const char* file : {"libturbojpeg.so.0", "libturbojpeg.0.dylib"})
                if (void* library = load_library(file); library && !f.complete()) {
                    f.init = reinterpret_cast<decltype(f.init)>(library_function(library, "tjInitDecompress"));
                    f.header = reinterpret_cast<decltype(f.header)>(library_function(library, "tjDecompressHeader3"));
                    f.decompress = reinterpret_cast<decltype(f.decompress)>(library_function(library, "tjDecompress2"));
                    f.destroy = reinterpret_cast<decltype(f.destroy)>(library_function(library, "tjDestroy"));
                    f.problem = reinterpret_cast<decltype(f.problem)>(library_function(library, "tjGetErrorStr2"));
                }
            return f;
        }();
        return all;
    }
};

RILL_COLD bool has_libpng() { return png_functions::of_process().complete(); }
RILL_COLD bool has_turbojpeg() { return jpeg_functions::of_process().complete(); }

RILL_COLD image_kind image_kind_of(std::string_view bytes) {
    if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return image_kind::png;
    if (bytes.starts_with("\xff\xd8\xff")) return image_kind::jpeg;
    return image_kind::unknown;
}

/// Allocates an image whose header is untrusted. `most`: the maximum number of pixels that its bytes can hold.
inline any_array room_for_image(std::uint64_t height, std::uint64_t width, int channels, std::uint64_t most) {
    most = std::min(most, std::uint64_t(1) << 28);
    if (height == 0 || width == 0 || height > most / width)
        throw data_loss("the image has " + std::to_string(height) + " x " + std::to_string(width) + " pixels");
    return any_array(dtype::uint8, dims{static_cast<index_t>(height), static_cast<index_t>(width), channels});
}

/// Copies an image without its last channel.
inline any_array without_last_channel(const any_array& image) {
    const dims& shape = image.shape();
    const index_t pixels = shape[0] * shape[1], channels = shape[2];
    any_array made(dtype::uint8, dims{shape[0], shape[1], channels - 1});
    const auto* const from = static_cast<const std::uint8_t*>(image.data());
    auto* const to = static_cast<std::uint8_t*>(made.mutable_data());
    for (index_t p = 0; p < pixels; ++p) std::copy_n(from + p * channels, channels - 1, to + p * (channels - 1));
    return made;
}

inline any_array decode_png_image(std::string_view bytes, int channels) {
    if (!has_libpng()) throw unimplemented("PNG images need libpng 1.6, which was not found");
    const auto& png = png_functions::of_process();
    png_image_state image;
    const std::unique_ptr<png_image_state, void (*)(png_image_state*)> released(&image, png.release);
    if (!png.begin(&image, bytes.data(), bytes.size()))
        throw data_loss(std::string("the PNG image is damaged: ") + image.message);
    constexpr std::uint32_t alpha = 1, color = 2;
    if (channels == 0) channels = static_cast<int>((image.format & color ? 3 : 1) + (image.format & alpha));
    // libpng blends the colors with a background to remove alpha; TensorFlow keeps the colors. So alpha is decoded, and dropped here.
    const bool drops_alpha = (image.format & alpha) != 0 && channels % 2 != 0;
    const int decoded = channels + drops_alpha;
    image.format = (decoded % 2 == 0 ? alpha : 0) | (decoded > 2 ? color : 0);
    constexpr std::uint64_t pixels_per_byte = 1032 * 8; // deflate can't compress more, and a pixel has a bit or more
    any_array made = room_for_image(image.height, image.width, decoded, bytes.size() * pixels_per_byte);
    if (!png.finish(&image, nullptr, made.mutable_data(), 0, nullptr))
        throw data_loss(std::string("the PNG image is damaged: ") + image.message);
    return drops_alpha ? without_last_channel(made) : made;
}

inline any_array decode_jpeg_image(std::string_view bytes, int channels) {
    if (!has_turbojpeg()) throw unimplemented("JPEG images need libturbojpeg, which was not found");
    if (channels != 0 && channels != 1 && channels != 3)
        throw invalid_argument("a JPEG image has 1 or 3 channels, not " + std::to_string(channels));
    const auto& jpeg = jpeg_functions::of_process();
    const std::unique_ptr<void, int (*)(void*)> handle(jpeg.init(), jpeg.destroy);
    const auto refuse = [&] {
        throw data_loss(std::string("the JPEG image is damaged: ") + jpeg.problem(handle.get()));
    };
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto size = static_cast<unsigned long>(bytes.size());
    int width = 0, height = 0, sampling = 0, space = 0;
    if (jpeg.header(handle.get(), data, size, &width, &height, &sampling, &space) != 0 || width < 0 || height < 0)
        refuse();
    constexpr int grey_space = 2, rgb_format = 0, grey_format = 6, stop_on_warning = 8192;
    if (channels == 0) channels = space == grey_space ? 1 : 3;
    any_array made = room_for_image(static_cast<std::uint64_t>(height), static_cast<std::uint64_t>(width), channels,
                                    ~std::uint64_t(0)); // a few bytes of a JPEG image may hold any number of pixels
    if (jpeg.decompress(handle.get(), data, size, static_cast<unsigned char*>(made.mutable_data()), width, 0, height,
                        channels == 1 ? grey_format : rgb_format, stop_on_warning) != 0)
        refuse();
    return made;
}

RILL_COLD any_array decode_image(std::string_view bytes, int channels) {
    if (channels < 0 || channels > 4)
        throw invalid_argument("an image has 1 to 4 channels, not " + std::to_string(channels));
    const auto kind = image_kind_of(bytes);
    if (kind == image_kind::unknown) throw invalid_argument("the bytes are neither a PNG nor a JPEG image");
    return kind == image_kind::png ? decode_png_image(bytes, channels) : decode_jpeg_image(bytes, channels);
}

}}} // namespace rill::RILL_ABI::detail
