// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/gemm/gemm_tile.hpp>

#include <algorithm>
#include <vector>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("without registers there are no tiles") { SUCCEED(); }

#if RILL_WITH_XSIMD

namespace test_device_cpu_gemm_tile {

/// Two strips of a tile, read through steps, in a matrix with room on both sides.
template <class T, int Rows, int Vectors, bool Partial> bool tile_is_right(bool add, bool last) {
    constexpr int columns = Vectors * simd<T>::lanes - (Partial ? 1 : 0);
    constexpr int k = 7, strips = 2, m = strips * Rows, c_row = columns + 2;
    std::vector<T> a(m * k), b(k * columns), c(m * c_row, T(1));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i % 5);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(i % 3);
    const std::vector<T> row(columns, T(-40));
    gemm_tile<T, Rows, Vectors, Partial>::run({a.data(),
                                               1,
                                               m,
                                               b.data(),
                                               columns,
                                               k,
                                               c.data(),
                                               c_row,
                                               strips,
                                               columns,
                                               add,
                                               {last ? row.data() : nullptr, last}});
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < c_row; ++j) {
            T sum = add || j >= columns ? T(1) : T(0);
            if (j < columns)
                for (int l = 0; l < k; ++l)
                    sum += a[static_cast<std::size_t>(l * m + i)] * b[static_cast<std::size_t>(l * columns + j)];
            if (last && j < columns) sum = std::max(sum - 40, T(0));
            if (c[static_cast<std::size_t>(i * c_row + j)] != sum) return false;
        }
    return true;
}

TEMPLATE_TEST_CASE("a tile is a product", "", float, double) {
    for (bool add : {false, true})
        for (bool last : {false, true}) {
            CHECK(tile_is_right<TestType, 1, 1, false>(add, last));
            CHECK(tile_is_right<TestType, 2, 2, true>(add, last));
            CHECK(tile_is_right<TestType, tile_shape<TestType>::rows, tile_shape<TestType>::vectors, true>(add, last));
        }
}

TEMPLATE_TEST_CASE("a tile that copies is the same product, and leaves what it read of b", "", float, double) {
    using tile = gemm_tile<TestType, 2, 2, true>;
    constexpr int lanes = tile::lanes, columns = 2 * lanes - 1, k = 5;
    std::vector<TestType> a(2 * k), b(k * columns), c(2 * columns), other(c), copy(k * 2 * lanes + 1, TestType(-1));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<TestType>(i % 5);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<TestType>(i % 7);
    tile_operands<TestType> o{a.data(), k, 1,       b.data(), columns, k,          c.data(),
                              columns,  1, columns, false,    {},      copy.data()};
    tile::run_copying(o);
    o.c = other.data();
    tile::run(o);
    CHECK(c == other);
    for (int l = 0; l < k; ++l)
        for (int j = 0; j < 2 * lanes; ++j)
            REQUIRE(copy[static_cast<std::size_t>(l * 2 * lanes + j)] ==
                    (j < columns ? b[static_cast<std::size_t>(l * columns + j)] : 0));
    CHECK(copy.back() == -1);
}

TEMPLATE_TEST_CASE("dot products", "", float, double) {
    for (int k : {1, 5, 16, 37}) {
        std::vector<TestType> x(static_cast<std::size_t>(k)), y(static_cast<std::size_t>(3 * k));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<TestType>(i % 7);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<TestType>(i % 4);
        TestType to[3];
        dot_products<3>(x.data(), y.data(), k, k, to, false);
        for (int r = 0; r < 3; ++r) {
            TestType sum = 0;
            for (int l = 0; l < k; ++l) sum += x[static_cast<std::size_t>(l)] * y[static_cast<std::size_t>(r * k + l)];
            CHECK(to[r] == sum);
            TestType twice = sum;
            dot_products<1>(x.data(), y.data() + r * k, k, k, &twice, true);
            CHECK(twice == 2 * sum);
        }
    }
}

} // namespace test_device_cpu_gemm_tile

#endif
