// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/random/random_multinomial.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_random_multinomial {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// How many of n draws from one row give each class.
template <class T> std::vector<index_t> counts(const std::vector<float>& row, index_t n) {
    std::vector<T> logits;
    for (const float x : row) logits.push_back(T(x));
    std::vector<std::int64_t> drawn(static_cast<std::size_t>(n));
    std::vector<double> scratch(row.size());
    const auto classes = static_cast<index_t>(row.size());
    const auto wrong = draw_classes<T>(logits.data(), 1, classes, n, {7, 1}, drawn.data(), scratch.data());
    CHECK(wrong.at == -1);
    std::vector<index_t> all(row.size());
    for (const auto k : drawn) ++all.at(static_cast<std::size_t>(k));
    return all;
}

TEMPLATE_TEST_CASE("random_multinomial: what can't come does not, what is rare is rare", "", float, double, half,
                   bfloat16) {
    constexpr index_t n = 400'000;
    CHECK(counts<TestType>({-infinity, 0, -infinity}, n) == std::vector<index_t>{0, n, 0});
    CHECK(counts<TestType>({0, -1000, -1000}, n)[0] == n);
    const auto rare = counts<TestType>({-9.25f, 0}, n); // 38 of 400,000
    CHECK(static_cast<double>(rare[0]) == Approx(38.4).margin(31));
    const float far = std::is_same_v<TestType, half> ? 60000.f : 1e8f;
    for (const float at : {0.f, far, -far})
        CHECK(static_cast<double>(counts<TestType>({at, at}, n)[0]) == Approx(n / 2).margin(1600));
    CHECK(static_cast<double>(counts<TestType>({infinity, 5, infinity}, n)[0]) == Approx(n / 2).margin(1600));
    CHECK(counts<TestType>({infinity, 5, infinity}, n)[1] == 0);
    CHECK(counts<TestType>({3}, 5) == std::vector<index_t>{5});
}

TEST_CASE("random_multinomial: a draw depends on the stream, its place and its row alone") {
    const std::vector<float> logits{0, 1, 2, 2, 1, 0};
    std::vector<double> scratch(3);
    std::vector<std::int64_t> both(14), second(7), other(14);
    draw_classes<float>(logits.data(), 2, 3, 7, {7, 1}, both.data(), scratch.data());
    const std::vector<float> changed{0, 0, 0, 2, 1, 0};
    draw_classes<float>(changed.data(), 2, 3, 7, {7, 1}, other.data(), scratch.data());
    CHECK(std::equal(both.begin() + 7, both.end(), other.begin() + 7));
    draw_classes<float>(logits.data(), 2, 3, 7, {7, 2}, other.data(), scratch.data());
    CHECK(both != other);
}

TEST_CASE("random_multinomial: a row without a class to draw is told") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<double> scratch(2);
    std::vector<std::int64_t> to(2);
    const auto wrong = [&](std::vector<float> logits, index_t draws) {
        const auto w = draw_classes<float>(logits.data(), 2, 2, draws, {7, 1}, to.data(), scratch.data());
        return std::pair(w.at, std::isnan(w.real()));
    };
    using found = std::pair<index_t, bool>;
    CHECK(wrong({0, 1, -infinity, -infinity}, 1) == found{1, false});
    CHECK(wrong({nan, infinity, 0, 0}, 1) == found{0, true});
    CHECK(wrong({nan, infinity, 0, 0}, 0) == found{-1, false});
    CHECK(draw_classes<float>(nullptr, 1, 0, 1, {7, 1}, to.data(), scratch.data()).at == 0);
}

} // namespace test_device_random_multinomial
