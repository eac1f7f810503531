// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The digits of data/digits.csv in the form of MNIST: 28 x 28 pixels of 0 to 1, three times as large with a border of two. Where MNIST's own
// files are given (train-images-idx3-ubyte and train-labels-idx1-ubyte), these are read instead.

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif

struct digit_images {
    xt::xtensor<float, 4> images; // [n, 28, 28, 1]
    std::vector<int> labels;

    std::size_t size() const { return labels.size(); }
    /// Copies chosen images.
    digit_images taken(const std::vector<std::size_t>& which) const {
        digit_images some{xt::xtensor<float, 4>({which.size(), 28, 28, 1}), {}};
        for (std::size_t i = 0; i < which.size(); ++i) {
            std::copy_n(&images(which[i], 0, 0, 0), 784, &some.images(i, 0, 0, 0));
            some.labels.push_back(labels[which[i]]);
        }
        return some;
    }
};

/// Reads all digits, in a random order that is the same in every run.
inline digit_images read_digits(int argc, char** argv) {
    digit_images all;
    if (argc > 2) {
        const auto images = rill::read_idx<float, 3>(argv[1], 1. / 255);
        const auto labels = rill::read_idx<int, 1>(argv[2]);
        all = {xt::reshape_view(images, {images.shape(0), images.shape(1), images.shape(2), std::size_t{1}}),
               std::vector<int>(labels.begin(), labels.end())};
    } else {
        const auto rows = rill::read_csv<float>(RILL_EXAMPLE_DATA "/digits.csv").values;
        all.images = xt::zeros<float>({rows.shape(0), std::size_t{28}, std::size_t{28}, std::size_t{1}});
        for (std::size_t i = 0; i < rows.shape(0); ++i) {
            for (std::size_t y = 0; y < 24; ++y)
                for (std::size_t x = 0; x < 24; ++x) all.images(i, y + 2, x + 2, 0) = rows(i, y / 3 * 8 + x / 3) / 16.f;
            all.labels.push_back(static_cast<int>(rows(i, 64)));
        }
    }
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), std::mt19937(42));
    return all.taken(order);
}

/// Random batches of so many images, for ever.
class batches {
public:
    batches(const digit_images& from, std::size_t size) : from_(from), size_(size) {}
    digit_images next() {
        std::vector<std::size_t> which(size_);
        for (auto& i : which) i = std::uniform_int_distribution<std::size_t>(0, from_.size() - 1)(random_);
        return from_.taken(which);
    }

private:
    const digit_images& from_;
    std::size_t size_;
    std::mt19937 random_{7};
};

/// Draws pictures of 784 pixels each side by side, every second row and column.
template <class X> void draw_digits(const X& pixels, std::size_t count) {
    const std::string shades = " .:-=+*#%@";
    for (std::size_t y = 0; y < 28; y += 2) {
        for (std::size_t i = 0; i < count; ++i) {
            std::printf("  ");
            for (std::size_t x = 0; x < 28; ++x) {
                const float ink = std::clamp(pixels.data()[i * 784 + y * 28 + x], 0.f, 1.f);
                std::printf("%c", shades[static_cast<std::size_t>(ink * 9.f)]);
            }
        }
        std::printf("\n");
    }
}
