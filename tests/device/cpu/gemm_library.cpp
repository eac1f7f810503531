// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/gemm_library.hpp>

#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("a library is asked for large products only") {
    CHECK_FALSE(detail::library_serves<float>(32, 10, 10));
    CHECK_FALSE(detail::library_serves<int>(4096, 4096, 4096));
    CHECK_FALSE(detail::library_serves<double>(8, 8, 8));
    CHECK(detail::library_serves<float>(4096, 4096, 4096) ==
          (RILL_WITH_ONEDNN || (RILL_WITH_BLAS && !detail::wide_tiles)));
    CHECK_FALSE(detail::library_serves<double>(4096, 4096, 4096) !=
                (RILL_WITH_BLAS && !RILL_WITH_ONEDNN && !detail::wide_tiles));
}

TEMPLATE_TEST_CASE("a library computes what we mean", "", float, double) {
    const std::int64_t m = 7, n = 5, k = 9;
    std::mt19937 random(2);
    for (int way = 0; way < 4; ++way) {
        const bool ta = way & 1, tb = way >> 1;
        std::vector<TestType> a(m * k), b(k * n), c(m * n);
        for (auto& x : a) x = static_cast<TestType>(random() % 9);
        for (auto& x : b) x = static_cast<TestType>(random() % 9);
        const bool done = detail::library_gemm(ta, tb, m, n, k, a.data(), b.data(), c.data());
        CHECK(done == ((RILL_WITH_ONEDNN && sizeof(TestType) == 4) || (RILL_WITH_BLAS && !RILL_WITH_ONEDNN)));
        if (!done) continue;
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                TestType sum = 0;
                for (std::int64_t l = 0; l < k; ++l)
                    sum += a[static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                           b[static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
                CHECK(c[static_cast<std::size_t>(i * n + j)] == sum);
            }
    }
}
