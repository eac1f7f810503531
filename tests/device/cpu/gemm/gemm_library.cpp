// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/gemm/gemm_library.hpp>

#include <random>
#include <tuple>
#include <vector>

#include <rill/device/cpu/gemm/gemm.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("a library is asked for large products only") {
    CHECK_FALSE(detail::library_serves<float>(32, 10, 10));
    CHECK_FALSE(detail::library_serves<int>(4096, 4096, 4096));
    CHECK_FALSE(detail::library_serves<double>(8, 8, 8));
    CHECK(detail::library_serves<float>(4096, 4096, 4096) ==
          (RILL_WITH_ONEDNN || (RILL_WITH_BLAS && !detail::wide_tiles)));
    CHECK(detail::library_serves<double>(4096, 4096, 4096) == (RILL_WITH_BLAS && !detail::wide_tiles));
    CHECK_FALSE(detail::library_serves<float>(1, 1, std::int64_t(1) << 40)); // its integers have 32 bits
    CHECK_FALSE(detail::library_serves<float>(4, 4096, 1 << 20));            // its sums would be long ones
    CHECK_FALSE(detail::library_serves<float>(4096, 4, 1 << 20));
}

TEMPLATE_TEST_CASE("a library computes what we mean, also into a part of a matrix", "", float, double) {
    const std::int64_t m = 7, n = 5, k = 9, wider = 8;
    std::mt19937 random(2);
    for (int way = 0; way < 4; ++way) {
        const bool ta = way & 1, tb = way >> 1;
        std::vector<TestType> a(m * k), b(k * n), c(m * wider, TestType(-1));
        for (auto& x : a) x = static_cast<TestType>(random() % 9);
        for (auto& x : b) x = static_cast<TestType>(random() % 9);
        const detail::library_product<TestType> p{ta,         tb,       m,          n,        k,    a.data(),
                                                  ta ? m : k, b.data(), tb ? k : n, c.data(), wider};
        if (!detail::library_gemm(p)) continue; // there is none here
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < wider; ++j) {
                TestType sum = 0;
                for (std::int64_t l = 0; l < k && j < n; ++l)
                    sum += a[static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                           b[static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
                CHECK(c[static_cast<std::size_t>(i * wider + j)] == (j < n ? sum : TestType(-1)));
            }
    }
}

TEST_CASE("a library's products are cut where a part is worth a thread") {
    const auto parts = [](std::int64_t m, std::int64_t n, std::int64_t k, bool tb) {
        return detail::cut_for_library({false, tb, m, n, k}).parts;
    };
    CHECK(parts(100, 100, 100, false) == 1);
    CHECK(parts(128, 512, 784, false) == 2);
    CHECK(detail::cut_for_library({false, false, 128, 512, 784}).rows);
    CHECK_FALSE(detail::cut_for_library({false, true, 128, 512, 784}).rows);
    CHECK(parts(40, 4096, 1024, false) == 8);
    CHECK(parts(40, 4096, 1024, true) == 8);
    CHECK(parts(5000, 512, 512, true) == 9);
}

TEST_CASE("a library's products are cut by shape: the same for any number of threads, and what our tiles compute") {
    std::mt19937 random(3);
    for (const auto& [m, n, k] :
         {std::tuple(1100, 70, 40), std::tuple(60, 1700, 30), std::tuple(520, 520, 16), std::tuple(160, 700, 600)}) {
        const auto at = [](int size) { return static_cast<std::size_t>(size); };
        std::vector<float> a(at(m * k)), b(at(k * n)), alone(at(m * n)), shared(at(m * n)), wanted(at(m * n));
        for (auto& x : a) x = static_cast<float>(random() % 1000) / 999.f;
        for (auto& x : b) x = static_cast<float>(random() % 1000) / 999.f;
        for (const bool ta : {false, true})
            for (const bool tb : {false, true}) {
                const detail::product_shape s{ta, tb, m, n, k};
                thread_pool pool(2);
                if (!detail::product_by_library(s, a.data(), b.data(), alone.data(), nullptr, {})) return;
                REQUIRE(detail::product_by_library(s, a.data(), b.data(), shared.data(), &pool, {}));
                CHECK(alone == shared);
                detail::plain_product(s, a.data(), b.data(), wanted.data());
                for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(alone[i] == Approx(wanted[i]).epsilon(1e-5));
            }
    }
}
