// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Handwritten digits (see data/README.md) in batches for several workers, and a network that learns them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <rill/rill.hpp>

namespace handwriting {

using namespace rill;

constexpr std::size_t batch = 32; // images

struct samples {
    xt::xtensor<float, 2> images; // [n, 64], 0 to 1
    std::vector<int> labels;
};

/// The images in a random order: most to learn from, the rest to test with.
class digits {
public:
    digits() : order_(table_.values.shape(0)) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::shuffle(order_.begin(), order_.end(), std::mt19937(42));
        split_ = order_.size() * 8 / 10;
    }
    /// The batch of a worker in a step.
    samples batch_of(int worker, std::int64_t step) const {
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < batch; ++i)
            rows.push_back(
                order_[((static_cast<std::size_t>(step) * 3 + static_cast<std::size_t>(worker)) * batch + i) % split_]);
        return take(rows);
    }
    samples test() const { return take({order_.begin() + static_cast<std::ptrdiff_t>(split_), order_.end()}); }

private:
    samples take(const std::vector<std::size_t>& rows) const {
        samples s{xt::xtensor<float, 2>({rows.size(), 64}), {}};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t p = 0; p < 64; ++p) s.images(i, p) = table_.values(rows[i], p) / 16.f;
            s.labels.push_back(static_cast<int>(table_.values(rows[i], 64)));
        }
        return s;
    }

#ifndef RILL_EXAMPLE_DATA
#define RILL_EXAMPLE_DATA "examples/data"
#endif
    decltype(read_csv<float>("")) table_ = read_csv<float>(RILL_EXAMPLE_DATA "/digits.csv");
    std::vector<std::size_t> order_;
    std::size_t split_ = 0;
};

/// A network with a hidden layer.
struct digit_model {
    variable<float, 64, 64> w1{"w1", glorot_uniform(1)};
    variable<float, 64> b1{"b1", 0.f};
    variable<float, 64, 10> w2{"w2", glorot_uniform(2)};
    variable<float, 10> b2{"b2", 0.f};
    variable<std::int64_t> step = get_or_create_global_step();

    tensor<float, dyn, 10> logits(const tensor<float, dyn, 64>& image) const {
        return matmul(relu(matmul(image, w1) + b1), w2) + b2;
    }
    tensor<float> loss(const tensor<float, dyn, 64>& image, const tensor<int, dyn>& label) const {
        return reduce_mean(sparse_softmax_cross_entropy(logits(image), label));
    }
};

} // namespace handwriting
