// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/gemm/byte_product.hpp>

#include <vector>

#include "catch.hpp"

using namespace rill;
using namespace rill::detail;

TEST_CASE("without registers there are no tiles of bytes") { SUCCEED(); }

namespace test_device_cpu_gemm_byte_product {

/// Compares a product with sums of numbers one after another, modulo 2^32.
template <class Q>
bool product_is_right(index_t m, index_t n, index_t k, std::uint32_t x0, std::uint32_t f0, thread_pool* pool) {
    const auto number = [](index_t i) { return Q{static_cast<decltype(Q::value)>(i * i * 7 + i * 31)}; };
    std::vector<Q> x, f;
    for (index_t i = 0; i < m * k; ++i) x.push_back(number(i));
    for (index_t i = 0; i < k * n; ++i) f.push_back(number(i + 3));
    std::vector<qint32> y(static_cast<std::size_t>(m * n + 1), qint32{12345});
    std::vector<std::uint32_t> scratch(byte_product_bytes(m, n, k) / sizeof(std::uint32_t), 0xdeadbeef);
    multiply_bytes(m, n, k, x.data(), f.data(), x0, f0, y.data(), scratch.data(), pool);
    for (index_t i = 0; i < m; ++i)
        for (index_t j = 0; j < n; ++j) {
            std::uint32_t sum = 0;
            for (index_t l = 0; l < k; ++l)
                sum += (static_cast<std::uint32_t>(x[static_cast<std::size_t>(i * k + l)].value) - x0) *
                       (static_cast<std::uint32_t>(f[static_cast<std::size_t>(l * n + j)].value) - f0);
            if (y[static_cast<std::size_t>(i * n + j)].value != static_cast<std::int32_t>(sum)) return false;
        }
    return y.back().value == 12345;
}

TEMPLATE_TEST_CASE("multiply_bytes: exact sums for any shape and zero point", "", qint8, quint8) {
    if constexpr (has_byte_tiles) {
        thread_pool three(3);
        for (const index_t m : {1, 3, 8, 23})
            for (const index_t n : {1, 15, 16, 50, 97})
                for (const index_t k : {0, 1, 2, 5, 64, 1030})
                    for (const std::uint32_t zero : {0u, 128u, static_cast<std::uint32_t>(-7), 4000000000u}) {
                        INFO(m << " x " << k << " x " << n << ", zero point " << zero);
                        REQUIRE(product_is_right<TestType>(m, n, k, zero, zero / 3, nullptr));
                    }
        CHECK(product_is_right<TestType>(130, 200, 300, 9, 200, &three));
    }
}

} // namespace test_device_cpu_gemm_byte_product
