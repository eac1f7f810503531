// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/gemm/gemm.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <type_traits>
#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_gemm {

struct aligned_memory {
    std::size_t size;
    void* at;
    explicit aligned_memory(std::size_t bytes)
        : size(bytes), at(bytes ? ::operator new(bytes, std::align_val_t(64)) : nullptr) {}
    ~aligned_memory() {
        if (at) ::operator delete(at, size, std::align_val_t(64));
    }
    aligned_memory(const aligned_memory&) = delete;
};

/// Arrays of exactly the right size, so that sanitizers see every step beyond.
template <class T> struct product {
    bool ta, tb;
    std::int64_t m, n, k;
    std::unique_ptr<T[]> a, b, c;

    product(bool ta_, bool tb_, std::int64_t m_, std::int64_t n_, std::int64_t k_)
        : ta(ta_), tb(tb_), m(m_), n(n_), k(k_), a(new T[static_cast<std::size_t>(m * k)]),
          b(new T[static_cast<std::size_t>(k * n)]), c(new T[static_cast<std::size_t>(m * n)]) {
        std::mt19937 random(5);
        for (std::int64_t i = 0; i < m * k; ++i)
            a[static_cast<std::size_t>(i)] = number(static_cast<int>(random() % 9) - 4);
        for (std::int64_t i = 0; i < k * n; ++i)
            b[static_cast<std::size_t>(i)] = number(static_cast<int>(random() % 7) - 3);
        for (std::int64_t i = 0; i < m * n; ++i) c[static_cast<std::size_t>(i)] = number(77);
    }
    static T number(int x) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(x);
        else
            return T(static_cast<float>(x));
    }
    void run(thread_pool* pool = nullptr, const product_epilogue<T>& last = {}) {
        const aligned_memory scratch(gemm_scratch_bytes<T>(ta, tb, m, n, k, pool ? pool->threads() : 1));
        gemm<T>(ta, tb, m, n, k, a.get(), b.get(), c.get(), scratch.at, pool, last);
    }
    T left(std::int64_t i, std::int64_t l) const { return a[static_cast<std::size_t>(ta ? l * m + i : i * k + l)]; }
    T right(std::int64_t l, std::int64_t j) const { return b[static_cast<std::size_t>(tb ? j * k + l : l * n + j)]; }
    /// All numbers are small integers: sums are exact in every type and order.
    bool exact() const {
        using S = lane<compute_type<T>>;
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                S sum(0);
                for (std::int64_t l = 0; l < k; ++l)
                    sum = sum +
                          S(static_cast<compute_type<T>>(left(i, l))) * S(static_cast<compute_type<T>>(right(l, j)));
                if (static_cast<compute_type<T>>(c[static_cast<std::size_t>(i * n + j)]) != sum.v) return false;
            }
        return true;
    }
};

template <class T> bool all_ways(std::int64_t m, std::int64_t n, std::int64_t k) {
    bool right = true;
    for (int way = 0; way < 4; ++way) {
        product<T> p(way & 1, way >> 1, m, n, k);
        p.run();
        right = right && p.exact();
    }
    return right;
}

TEMPLATE_TEST_CASE("products of all small shapes", "", float, double) {
    for (std::int64_t m : {0, 1, 2, 3, 5, 8, 13})
        for (std::int64_t n : {0, 1, 4, 10, 16, 17, 33})
            for (std::int64_t k : {0, 1, 3, 10, 17, 40}) {
                CAPTURE(m, n, k);
                CHECK(all_ways<TestType>(m, n, k));
            }
}

TEMPLATE_TEST_CASE("products of several tiles", "", float, double) {
    CHECK(all_ways<TestType>(32, 10, 4));
    CHECK(all_ways<TestType>(37, 100, 29));
    CHECK(all_ways<TestType>(65, 113, 131));
    CHECK(all_ways<TestType>(3, 300, 301));
    CHECK(all_ways<TestType>(41, 1, 1000));
    CHECK(all_ways<TestType>(1, 90, 1000));
}

TEST_CASE("products of several blocks") {
    CHECK(all_ways<float>(70, 513, 521)); // b is larger than a megabyte, so it is copied in blocks
    CHECK(all_ways<float>(301, 53, 600));
    CHECK(all_ways<double>(67, 301, 450));
}

// (some cblas.h has a bfloat16 of its own)
TEMPLATE_TEST_CASE("products of other types", "", std::int32_t, std::uint8_t, std::int64_t, rill::half, rill::bfloat16,
                   std::complex<float>) {
    for (std::int64_t m : {0, 1, 3})
        for (std::int64_t n : {0, 1, 70})
            for (std::int64_t k : {0, 1, 9}) CHECK(all_ways<TestType>(m, n, k));
    CHECK(gemm_scratch_bytes<TestType>(false, true, 9, 9, 9) == 0);
}

TEST_CASE("integers wrap") {
    const std::int32_t a[] = {std::numeric_limits<std::int32_t>::max(), 1}, b[] = {1, 1};
    std::int32_t c = 0;
    gemm<std::int32_t>(false, false, 1, 1, 2, a, b, &c, nullptr);
    CHECK(c == std::numeric_limits<std::int32_t>::min());
}

TEST_CASE("rounding stays small and infinities pass") {
    product<float> p(false, true, 40, 60, 700);
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::size_t i = 0; i < 40 * 700; ++i) p.a[i] = normal(random);
    for (std::size_t i = 0; i < 60 * 700; ++i) p.b[i] = normal(random);
    p.run();
    double worst = 0;
    for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t j = 0; j < 60; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < 700; ++l)
                sum += static_cast<double>(p.left(i, l)) * static_cast<double>(p.right(l, j));
            worst = std::max(worst, std::fabs(sum - static_cast<double>(p.c[static_cast<std::size_t>(i * 60 + j)])));
        }
    CHECK(worst < 2e-4);
    p.a[0] = std::numeric_limits<float>::infinity();
    p.run();
    CHECK(std::isinf(p.c[0]));
    CHECK(std::isfinite(p.c[60])); // the second row
}

/// The worst error of a product of numbers in [0, 1), as a part of the true value.
template <class T> double worst_error(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k) {
    product<T> p(ta, tb, m, n, k);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> uniform;
    for (std::int64_t i = 0; i < m * k; ++i) p.a[static_cast<std::size_t>(i)] = T(uniform(random));
    for (std::int64_t i = 0; i < k * n; ++i) p.b[static_cast<std::size_t>(i)] = T(uniform(random));
    p.run();
    double worst = 0;
    const auto wide = [](T x) { return static_cast<double>(static_cast<float>(x)); };
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < k; ++l) sum += wide(p.left(i, l)) * wide(p.right(l, j));
            worst = std::max(worst, std::fabs(wide(p.c[static_cast<std::size_t>(i * n + j)]) - sum) / sum);
        }
    return worst;
}

TEST_CASE("gemm: long sums are added up in blocks, whatever the way") {
    for (int way = 0; way < 4; ++way) {
        const bool ta = way & 1, tb = way & 2;
        INFO("way " << way); // one sum in one register would be off by 10^-4
        CHECK(worst_error<float>(ta, tb, 4, 4, 300'000) < 5e-7);
        CHECK(worst_error<float>(ta, tb, 1, 4, 300'000) < 5e-7);
        CHECK(worst_error<float>(ta, tb, 4, 1, 300'000) < 5e-7);
        CHECK(worst_error<float>(ta, tb, 17, 30, 20'000) < 1e-6);
        CHECK(worst_error<rill::bfloat16>(ta, tb, 1, 2, 300'000) < 4e-3); // one rounding
    }
    product<float> ones(true, false, 1, 1, (1 << 24) + 1000); // where a float counts no further
    std::fill_n(ones.a.get(), ones.k, 1.f);
    std::fill_n(ones.b.get(), ones.k, 1.f);
    ones.run();
    CHECK(ones.c[0] == 16'778'216.f);
}

TEST_CASE("the same data give the same bits, wherever they are") {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> numbers(2 * 100 * 100), first(100 * 100), second(100 * 100 + 5);
    for (auto& x : numbers) x = normal(random);
    const aligned_memory scratch(gemm_scratch_bytes<float>(false, true, 100, 100, 99));
    gemm<float>(false, true, 100, 100, 99, numbers.data(), numbers.data() + 10000, first.data(), scratch.at);
    const std::vector<float> moved(numbers.begin() + 9999, numbers.end()); // off by one element
    gemm<float>(false, true, 100, 100, 99, numbers.data(), moved.data() + 1, second.data() + 3, scratch.at);
    CHECK(std::equal(first.begin(), first.end(), second.begin() + 3));
}

TEST_CASE("gemm: shared by threads, bit for bit the same") {
    thread_pool two(1), five(4);
    for (const auto& [m, n, k] : {std::tuple{130, 210, 170},
                                  {1000, 10, 300},
                                  {3, 1700, 600},
                                  {700, 1, 5000},
                                  {8, 3000, 100},
                                  {257, 1031, 300},
                                  {5, 70, 40000}})
        for (int way = 0; way < 4; ++way) {
            product<float> p(way & 1, way & 2, m, n, k);
            for (std::int64_t i = 0; i < m * p.k; ++i) p.a[static_cast<std::size_t>(i)] *= 0.1f; // sums that round
            p.run();
            const std::vector<float> alone(p.c.get(), p.c.get() + m * n);
            for (thread_pool* pool : {&two, &five}) {
                std::fill_n(p.c.get(), m * n, -1.f);
                p.run(pool);
                INFO(m << " x " << n << " x " << k << ", way " << way << ", " << pool->threads() << " threads");
                REQUIRE(std::equal(alone.begin(), alone.end(), p.c.get()));
            }
        }
}

/// True if large products take minutes: without blocks, and where this file, which has all but those of floats, is not optimised.
#ifdef __OPTIMIZE__
template <class T> constexpr bool is_slow = !detail::has_tiles<T>;
#else
template <class T> constexpr bool is_slow = !std::is_same_v<T, float>;
#endif

TEMPLATE_TEST_CASE("gemm: a row added and what is below 0 cut off, bit for bit what comes of doing so afterwards", "",
                   float, double, rill::half) {
    thread_pool pool(1);
    for (const auto& [m, n, k] : {std::tuple{4, 3, 5},
                                  {1, 30, 9},
                                  {9, 1, 5},
                                  {3, 70, 40},
                                  {40, 50, 0},
                                  {70, 300, 1100},
                                  {300, 520, 256},
                                  {1000, 20, 300},
                                  {2, 3, 40000}})
        for (int way = 0; way < 12; ++way) {
            if (is_slow<TestType> && m * n * k > 1'000'000) continue;
            product<TestType> p(way & 1, way & 2, m, n, k);
            for (std::int64_t i = 0; i < m * p.k; ++i) {
                auto& x = p.a[static_cast<std::size_t>(i)];
                x = TestType(static_cast<float>(x) * 0.1f);
            }
            std::vector<TestType> row;
            for (std::int64_t j = 0; j < n; ++j) row.push_back(TestType(0.37f * static_cast<float>(j % 5) - 0.8f));
            const product_epilogue<TestType> last{way < 8 ? row.data() : nullptr, way >= 4};
            p.run();
            std::vector<TestType> wanted(p.c.get(), p.c.get() + m * n);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                using number = lane<compute_type<TestType>>;
                const auto of = [](TestType v) { return number(static_cast<compute_type<TestType>>(v)); };
                number x = of(wanted[i]);
                if (last.row) x = x + of(row[i % static_cast<std::size_t>(n)]);
                wanted[i] = TestType((last.rectified ? max(x, number(0)) : x).v);
            }
            INFO(m << " x " << n << " x " << k << ", way " << way);
            for (thread_pool* with : {static_cast<thread_pool*>(nullptr), &pool}) {
                std::fill_n(p.c.get(), m * n, TestType(-1.f));
                p.run(with, last);
                REQUIRE(std::memcmp(wanted.data(), p.c.get(), wanted.size() * sizeof(TestType)) == 0);
            }
        }
}

} // namespace test_device_cpu_gemm
