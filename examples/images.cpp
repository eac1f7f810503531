// SPDX-License-Identifier: BSD-3-Clause
// A folder of PNG files, made from the scanned digits, read by a dataset: decoded, resized, turned, standardized, in batches.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <rill/io/png.hpp>
#include <rill/rill.hpp>

#include "expect.hpp"

using namespace rill;

int main() try {
#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif
    const std::string folder = (std::filesystem::temp_directory_path() / "rill-images").string();
    std::filesystem::create_directories(folder);
    const auto digits = read_csv<int>(RILL_EXAMPLE_DATA "/digits.csv").values;
    constexpr std::size_t count = 40;
    for (std::size_t i = 0; i < count; ++i) {
        xt::xtensor<std::uint8_t, 3> pixels(std::array<std::size_t, 3>{8, 8, 1});
        for (std::size_t p = 0; p < 64; ++p) pixels(p / 8, p % 8, 0) = static_cast<std::uint8_t>(digits(i, p) * 15);
        std::ofstream(folder + "/" + std::to_string(1000 + i) + ".png", std::ios::binary) << png_bytes(pixels);
    }

    const auto images = dataset::whole_files(folder + "/*.png")
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
} catch (const unimplemented& problem) { // libpng was not found
    std::printf("no images today: %s\n", problem.what());
}
