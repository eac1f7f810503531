// SPDX-License-Identifier: BSD-3-Clause
// Loads the values that weights_writer.cpp wrote as a C array, and compares them; no file is read.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <iterator>
#include <tuple>

#include "saved_weights.hpp" // written by the build
#include "weights_model.hpp"

namespace {

int wrong = 0;

void check(bool holds, const char* what) {
    if (holds) return;
    std::printf("%s: another value\n", what);
    ++wrong;
}

} // namespace

int main() try {
    const saved_weights::model m; // no initializer: the array has all values
    rill::load(m.s, weights);
    const auto [kernel, scale, step] = m.s.run(std::tuple(m.kernel, m.scale, m.step));
    for (std::size_t i = 0; i < 12; ++i) check(kernel.flat(i) == static_cast<float>(i) - 0.25f, "dense/kernel");
    check(scale == 1e-300, "scale");
    check(step == std::int64_t(-7) << 40, "step");
    const auto flags = m.s.run(m.flags);
    check(flags(0) && !flags(1) && flags(2), "flags");
    const auto words = m.s.run(m.words);
    check(words(0) == "one" && words(1) == "quote \" and\nline", "words");

    std::array<unsigned char, std::size(weights)> damaged;
    std::copy(std::begin(weights), std::end(weights), damaged.begin());
    damaged[damaged.size() / 2] ^= 1;
    bool refused = false;
    try {
        rill::load(m.s, damaged);
    } catch (const rill::data_loss&) {
        refused = true;
    }
    check(refused, "a damaged array");
    std::printf("%zu bytes of C++: %s\n", std::size(weights), wrong ? "OTHER VALUES" : "the same values");
    return wrong;
} catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
}
