// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/padded_tail.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <numeric>

#include "catch.hpp"

using namespace rill;

namespace test_padded_tail {

constexpr int lanes = 8;

/// first = x * number + y, and of the second result the seen x as they came; whole packs of 8 only.
void block(const block_args& a) {
    REQUIRE(a.n == lanes);
    const auto* x = static_cast<const float*>(a.leaf[0]);
    const auto* y = static_cast<const std::int16_t*>(a.leaf[1]);
    const float number = *static_cast<const float*>(a.scalar[0]);
    for (int i = 0; i < lanes; ++i) {
        if (a.result[0]) static_cast<double*>(a.result[0])[i] = static_cast<double>(x[i] * number + y[i]);
        if (a.result[1]) static_cast<float*>(a.result[1])[i] = x[lanes - 1];
    }
}

TEST_CASE("padded tail: the rest of a block shorter than a pack, and nothing touched beyond it") {
    constexpr std::array<std::uint8_t, 2> leaf_sizes = {4, 2}, result_sizes = {8, 4};
    alignas(64) std::byte memory[lanes * (4 + 2 + 8 + 4)];
    std::array<float, 21> x;
    std::array<std::int16_t, 21> y;
    std::iota(x.begin(), x.end(), 1.f);
    std::iota(y.begin(), y.end(), std::int16_t(100));
    const float number = 2;
    const void *leaves[] = {x.data(), y.data()}, *scalars[] = {&number};
    for (const std::int64_t rest : {1, 3, 5})
        for (const bool second : {false, true}) {
            std::array<double, 24> out;
            std::array<float, 24> last;
            out.fill(-1), last.fill(-1);
            void* results[] = {out.data(), second ? last.data() : nullptr};
            detail::run_padded(&block, {leaves, scalars, results, nullptr, rest}, 0, lanes, leaf_sizes, result_sizes,
                               memory);
            for (int i = 0; i < 24; ++i) {
                const bool written = i < rest;
                const auto at = static_cast<std::size_t>(i);
                CHECK(out[at] == (written ? static_cast<double>(2 * x[at] + static_cast<float>(y[at])) : -1));
                // the padding repeats the last element
                CHECK(last[at] == (written && second ? x[static_cast<std::size_t>(rest - 1)] : -1));
            }
        }
}

/// y = x + 1, whole packs only.
void next(const block_args& a) {
    REQUIRE(a.n == lanes);
    for (int i = 0; i < lanes; ++i) static_cast<float*>(a.result[0])[i] = static_cast<const float*>(a.leaf[0])[i] + 1;
}

TEST_CASE("padded tail: behind a pack some elements are computed again, but where they were overwritten") {
    constexpr std::array<std::uint8_t, 1> sizes = {4};
    alignas(64) std::byte memory[lanes * (4 + 4)];
    for (const int rest : {1, 3, 7})
        for (const bool in_place : {false, true}) {
            std::array<float, 24> x, out;
            x.fill(10), out.fill(-1);
            if (in_place) std::fill_n(x.begin(), 16, 11.f); // those done
            const void* leaves[] = {x.data()};
            void* results[] = {in_place ? x.data() : out.data()};
            detail::run_padded(&next, {leaves, nullptr, results, nullptr, 16 + rest}, 16, lanes, sizes, sizes, memory);
            const auto& made = in_place ? x : out;
            for (int i = 16; i < 24; ++i)
                CHECK(made[static_cast<std::size_t>(i)] == (i < 16 + rest ? 11.f : in_place ? 10.f : -1.f));
            if (in_place) CHECK(std::count(x.begin(), x.begin() + 16, 11.f) == 16);
        }
}

/// The sum of a leaf that comes twice and of real and imaginary parts.
void block_of_one_leaf_twice(const block_args& a) {
    CHECK(a.leaf[0] == a.leaf[2]);
    for (int i = 0; i < lanes; ++i) {
        const auto z = static_cast<const std::complex<double>*>(a.leaf[1])[i];
        static_cast<double*>(a.result[0])[i] =
            static_cast<const double*>(a.leaf[0])[i] + static_cast<const double*>(a.leaf[2])[i] + z.real() + z.imag();
    }
}

TEST_CASE("padded tail: a leaf that comes twice, and elements of 16 bytes") {
    constexpr std::array<std::uint8_t, 3> leaf_sizes = {8, 16, 8};
    constexpr std::array<std::uint8_t, 1> result_sizes = {8};
    alignas(64) std::byte memory[lanes * (8 + 16 + 8 + 8)];
    const std::array<double, 3> x = {1, 2, 3};
    const std::array<std::complex<double>, 3> z = {{{10, 100}, {20, 200}, {30, 300}}};
    std::array<double, 4> out = {-1, -1, -1, -1};
    const void* leaves[] = {x.data(), z.data(), x.data()};
    void* results[] = {out.data()};
    detail::run_padded(&block_of_one_leaf_twice, {leaves, nullptr, results, nullptr, 3}, 0, lanes, leaf_sizes,
                       result_sizes, memory);
    CHECK(out == std::array<double, 4>{112, 224, 336, -1});
}

} // namespace test_padded_tail
