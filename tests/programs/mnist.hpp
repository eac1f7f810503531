// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The data of the programs in this folder, and the number of their steps. Each file is one of the public TensorFlow 1.x programs of
// docs/coming_from.md, with the same calls in the same order. The data are the digits of examples/data. RILL_MNIST=folder
// gives the programs MNIST's own files instead. RILL_PROGRAMS=whole runs as many steps as the originals do.

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <rill/rill.hpp>

#include "catch.hpp"

namespace programs {

using namespace rill;

/// Returns the number of steps that a program runs.
inline int steps(int few, int whole) {
    const char* text = std::getenv("RILL_PROGRAMS");
    return text && std::string(text) == "whole" ? whole : few;
}

/// Returns the path of a file of examples/data.
inline std::string example_data(const std::string& name) {
    const char* tests = std::getenv("RILL_TEST_DATA");
    return (tests ? std::string(tests) : std::string("tests/data")) + "/../../examples/data/" + name;
}

/// Images of 784 pixels from 0 to 1, and rows with a one at their class.
struct examples {
    xt::xtensor<float, 2> images, labels;

    std::size_t size() const { return images.shape(0); }
    examples rows(const std::vector<std::size_t>& which) const {
        examples some{xt::xtensor<float, 2>({which.size(), 784}), xt::xtensor<float, 2>({which.size(), 10})};
        for (std::size_t i = 0; i < which.size(); ++i) {
            std::copy_n(&images(which[i], 0), 784, &some.images(i, 0));
            std::copy_n(&labels(which[i], 0), 10, &some.labels(i, 0));
        }
        return some;
    }
    examples first(std::size_t count) const {
        std::vector<std::size_t> which(std::min(count, size()));
        std::iota(which.begin(), which.end(), std::size_t{0});
        return rows(which);
    }
};

/// The digits, 28 × 28 pixels each: images to train with and images to test with.
class mnist {
public:
    examples train, test;

    mnist() {
        const char* folder = std::getenv("RILL_MNIST");
        const examples all = folder ? from_files(folder) : from_csv();
        std::vector<std::size_t> order(all.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::shuffle(order.begin(), order.end(), std::mt19937(42));
        const auto border = order.begin() + static_cast<std::ptrdiff_t>(order.size() * 8 / 10);
        train = all.rows({order.begin(), border});
        test = all.rows({border, order.end()});
    }

    /// Returns the next images to train with; each pass over all of them has an order of its own.
    examples next_batch(std::size_t count) {
        std::vector<std::size_t> which;
        while (which.size() < count) {
            if (at_ == order_.size()) {
                order_.resize(train.size());
                std::iota(order_.begin(), order_.end(), std::size_t{0});
                std::shuffle(order_.begin(), order_.end(), random_);
                at_ = 0;
            }
            which.push_back(order_[at_++]);
        }
        return train.rows(which);
    }

private:
    static examples empty(std::size_t count) {
        return {xt::zeros<float>({count, std::size_t{784}}), xt::zeros<float>({count, std::size_t{10}})};
    }
    static examples from_files(const std::string& folder) {
        const auto images = read_idx<float, 3>(folder + "/train-images-idx3-ubyte", 1. / 255);
        const auto labels = read_idx<int, 1>(folder + "/train-labels-idx1-ubyte");
        examples all = empty(labels.size());
        std::copy(images.begin(), images.end(), all.images.begin());
        for (std::size_t i = 0; i < all.size(); ++i) all.labels(i, static_cast<std::size_t>(labels(i))) = 1;
        return all;
    }
    /// Images of 8 × 8 pixels, three times as large, with a border of two.
    static examples from_csv() {
        const auto table = read_csv<float>(example_data("digits.csv")).values;
        examples all = empty(table.shape(0));
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (std::size_t y = 0; y < 24; ++y)
                for (std::size_t x = 0; x < 24; ++x)
                    all.images(i, (y + 2) * 28 + x + 2) = table(i, y / 3 * 8 + x / 3) / 16.f;
            all.labels(i, static_cast<std::size_t>(table(i, 64))) = 1;
        }
        return all;
    }

    std::vector<std::size_t> order_;
    std::size_t at_ = 0;
    std::mt19937 random_{7};
};

/// Returns noise [count, width] between -1 and 1.
inline xt::xtensor<float, 2> noise(std::size_t count, std::size_t width, std::mt19937& random) {
    xt::xtensor<float, 2> z({count, width});
    for (float& v : z) v = std::uniform_real_distribution<float>(-1, 1)(random);
    return z;
}

} // namespace programs
