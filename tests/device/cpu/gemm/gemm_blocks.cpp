// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/gemm/gemm_blocks.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("without registers no blocks are cut") { SUCCEED(); }

#if RILL_WITH_XSIMD

namespace test_device_cpu_gemm_blocks {

TEMPLATE_TEST_CASE("gemm_blocks: how products are cut", "", float, double) {
    using blocks = product_blocks<TestType>;
    const auto most = blocks::most_k;
    CHECK(blocks({false, false, 10, 10, most}).k == most);
    const blocks cut({false, false, 10, 10, most + 8});
    CHECK(cut.k < most); // equal parts
    CHECK(cut.k % 8 == 0);
    CHECK(2 * cut.k >= most + 8);
    CHECK(blocks({false, false, 10, 10, 5}).m == 10);
    CHECK(blocks({false, false, 1 << 20, 10, most}).m % tile_shape<TestType>::rows == 0);
    CHECK(cut.copied(1) == tile_shape<TestType>::lanes * cut.k);
    int columns = 0;
    for (std::int64_t rest = 1000; rest > 0; rest -= columns) {
        columns = next_columns<TestType>(rest);
        REQUIRE((columns > 0 && columns <= tile_shape<TestType>::columns));
    }
}

/// Of small integers, so that every order of summation is exact.
TEMPLATE_TEST_CASE("gemm_blocks: copied or in place, whole or in parts, products are the same", "", float, double) {
    using T = TestType;
    for (const auto& [m, n, k] : {std::tuple{3, 5, 4}, {9, 50, 7}, {70, 111, 700}, {8, 200, 1100}, {200, 49, 60}})
        for (int way = 0; way < 4; ++way) {
            const product_shape s{(way & 1) != 0, (way & 2) != 0, m, n, k};
            std::vector<T> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i % 5) - 2;
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(i % 7) - 3;
            std::vector<T> wanted(static_cast<std::size_t>(m * n)), row(static_cast<std::size_t>(n), T(2));
            for (std::int64_t i = 0; i < m; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    T sum = 2;
                    for (std::int64_t l = 0; l < k; ++l)
                        sum += a[static_cast<std::size_t>(s.trans_a ? l * m + i : i * k + l)] *
                               b[static_cast<std::size_t>(s.trans_b ? j * k + l : l * n + j)];
                    wanted[static_cast<std::size_t>(i * n + j)] = sum;
                }
            INFO(m << " x " << n << " x " << k << ", way " << way);
            const product_epilogue<T> last{row.data()};
            const std::int64_t middle = n / 2, upper = m / 2;
            for (const auto& parts : {std::vector<product_part>{{0, m, 0, n, 0, k}},
                                      {{0, m, 0, middle, 0, k}, {0, m, middle, n, 0, k}},
                                      {{0, upper, 0, n, 0, k}, {upper, m, 0, n, 0, k}}}) {
                std::vector<T> copied(wanted.size(), T(-1)), in_place(wanted.size(), T(-1));
                for (const auto& p : parts) {
                    std::vector<T> room(static_cast<std::size_t>(product_blocks<T>(s).copied(n)) + 64);
                    auto* const at =
                        room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) / sizeof(T);
                    product_by_blocks<T>(s, p, a.data(), b.data(), copied.data(), at, last);
                    if (!s.trans_b) product_in_place<T>(s, p, a.data(), b.data(), in_place.data(), last);
                }
                CHECK(copied == wanted);
                if (!s.trans_b) CHECK(in_place == wanted);
            }
        }
}

} // namespace test_device_cpu_gemm_blocks

#endif
