// SPDX-License-Identifier: BSD-3-Clause
// A folder of PNG files, made from the scanned digits, read by a dataset: decoded, resized, turned, standardized, in batches.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <rill/io/image.hpp>
#include <rill/io/png.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main() {
#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif
    if (!detail::has_libpng()) {
        std::printf("libpng was not found: no images today\n");
        return 0;
    }
    const std::string folder = (std::filesystem::temp_directory_path() / "rill-images").string();
    std::filesystem::create_directories(folder);
    const auto digits = read_csv<int>(RILL_EXAMPLE_DATA "/digits.csv").values;
    constexpr std::size_t count = 40;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::uint8_t> pixels;
        for (std::size_t p = 0; p < 64; ++p) pixels.push_back(static_cast<std::uint8_t>(digits(i, p) * 15));
        std::ofstream(folder + "/" + std::to_string(1000 + i) + ".png", std::ios::binary)
            << detail::png_bytes(pixels, 8, 8, 1);
    }

    const auto images = dataset::generator(glob(folder + "/*.png"))
                            .map([](const std::string& path) { return detail::read_file(path, "images"); })
                            .map([](auto bytes) { return decode_png<1>(bytes); })
                            .as<tensor<std::uint8_t, 8, 8, 1>>();
    std::size_t number = 0;
    for (const auto& image : images) {
        for (std::size_t p = 0; p < 64; ++p)
            expect(image(p / 8, p % 8, 0) == digits(number, p) * 15, "the pixels are those that were written");
        ++number;
    }
    expect(number == count, "each file once");

    const auto batches =
        images
            .map([](auto image) { return per_image_standardization(resize_bilinear<16, 16>(flip_left_right(image))); },
                 {.parallel = 2})
            .batch<8>(drop_remainder);
    int seen = 0;
    for (const auto& batch : batches) {
        ++seen;
        expect(batch.shape(0) == 8 && batch.shape(1) == 16 && batch.shape(3) == 1, "batches of eight images");
        float mean = 0;
        for (const float x : batch) mean += x / static_cast<float>(batch.size());
        expect(std::abs(mean) < 1e-3f, "standardized");
    }
    std::printf("%zu images in %d batches of 8 x 16 x 16 x 1\n", number, seen);
    expect(seen == 5, "five batches");
    std::filesystem::remove_all(folder);
}
