// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/primitives/top_k.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_primitives_top_k {

/// Returns the places of the k largest elements: NaN first, then by descending value, then by place.
template <class T> std::vector<std::int32_t> places_of_largest(const T* x, std::size_t n, std::size_t k) {
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    const auto rank = [x](std::int32_t i) {
        const auto v = static_cast<double>(x[i]);
        return std::tuple(v == v, v == v ? -v : 0., i);
    };
    std::sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) { return rank(i) < rank(j); });
    order.resize(k);
    return order;
}

/// Compares rows with a sort of all.
template <class T> bool is_sorted_part(const std::vector<T>& x, std::size_t rows, std::size_t k) {
    const std::size_t columns = x.size() / rows;
    std::vector<T> values(rows * k);
    std::vector<std::int32_t> ids(rows * k);
    largest_of_rows(x.data(), values.data(), ids.data(), static_cast<index_t>(rows), static_cast<index_t>(columns),
                    static_cast<index_t>(k));
    for (std::size_t row = 0; row < rows; ++row) {
        const T* const at = x.data() + row * columns;
        const auto wanted = places_of_largest(at, columns, k);
        for (std::size_t i = 0; i < k; ++i) {
            const auto a = static_cast<double>(values[row * k + i]), b = static_cast<double>(at[wanted[i]]);
            if (ids[row * k + i] != wanted[i] || !(a == b || (a != a && b != b))) return false;
        }
    }
    return true;
}

template <class T> void check_type(double scale) {
    for (const std::size_t columns : {1u, 7u, 64u, 65u, 300u, 1000u})
        for (const std::size_t k : {std::size_t(0), std::size_t(1), columns / 3, columns}) {
            std::vector<T> mixed, rising, falling, equal(2 * columns, T(3.f));
            for (std::size_t i = 0; i < 2 * columns; ++i) {
                const double step = scale * static_cast<double>(i % columns * 100 / columns);
                mixed.push_back(static_cast<T>(static_cast<float>(scale * static_cast<double>(i * 7919 % 101))));
                rising.push_back(static_cast<T>(static_cast<float>(step)));
                falling.push_back(static_cast<T>(static_cast<float>(100 - step)));
            }
            CHECK(is_sorted_part(mixed, 2, k));
            CHECK(is_sorted_part(rising, 2, k));
            CHECK(is_sorted_part(falling, 2, k));
            CHECK(is_sorted_part(equal, 2, k));
        }
}

TEST_CASE("top_k of rows: as a sort of all, for all kinds of numbers") {
    check_type<float>(-0.5);
    check_type<double>(0.25);
    check_type<half>(0.5);
    check_type<bfloat16>(0.5);
    check_type<std::int8_t>(0.5);
    check_type<std::uint8_t>(1);
    check_type<std::int32_t>(-7);
    check_type<std::int64_t>(1e6);
}

TEST_CASE("top_k of rows: NaN, infinities and zeros of both signs") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    std::vector<float> x(200, -1.f);
    x[3] = x[150] = inf;
    x[4] = -inf;
    x[70] = -0.f;
    x[71] = 0.f;
    x[130] = -0.f;
    for (const std::size_t k : {1u, 2u, 5u, 199u, 200u}) CHECK(is_sorted_part(x, 1, k));
    x[140] = x[5] = x[199] = nan;
    for (const std::size_t k : {1u, 3u, 4u, 8u, 200u}) CHECK(is_sorted_part(x, 1, k));
    CHECK(is_sorted_part(std::vector<float>(100, nan), 1, 3));
    CHECK(is_sorted_part(std::vector<float>(100, -inf), 1, 70));
    std::vector<half> halves(100, half(-2.f));
    halves[70] = half(nan);
    halves[90] = half(1.f);
    CHECK(is_sorted_part(halves, 1, 3));
}

} // namespace test_device_cpu_primitives_top_k
