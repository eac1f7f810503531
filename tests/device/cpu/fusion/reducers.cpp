// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/reducers.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("reducers: identities, folds of any length, merges, means") {
    compile_reducer<combine::sum, float>();
    compile_reducer<combine::max, int>();
    compile_reducer<combine::all, bool>();
    const auto sum = the_kernels().reducers.find("Sum/float32");
    const auto max = the_kernels().reducers.find("Max/int32");
    const auto all = the_kernels().reducers.find("All/bool");
    REQUIRE(sum);
    REQUIRE(max);
    REQUIRE(all);
    for (const int n : {0, 1, 5, 16, 63, 64, 65, 1000}) {
        std::vector<float> v(static_cast<std::size_t>(n));
        float expected = 0;
        for (int i = 0; i < n; ++i) expected += v[static_cast<std::size_t>(i)] = static_cast<float>(i % 7) - 2.f;
        float got = -1;
        sum->init(&got, 1);
        sum->fold(&got, v.data(), n);
        CHECK(got == expected);
        std::vector<float> twice(v);
        sum->merge(twice.data(), v.data(), n);
        if (n > 0) CHECK(twice.back() == 2 * v.back());
        sum->divide(twice.data(), twice.data(), n, 4);
        if (n > 0) CHECK(twice.back() == v.back() / 2);
    }
    int largest = 0;
    max->init(&largest, 1);
    CHECK(largest == std::numeric_limits<int>::lowest());
    const std::vector<int> values{3, -5, 12, 7};
    max->fold(&largest, values.data(), 4);
    CHECK(largest == 12);
    bool every = false;
    all->init(&every, 1);
    CHECK(every);
    const bool flags[] = {true, false, true};
    all->fold(&every, flags, 3);
    CHECK_FALSE(every);
}

namespace test_device_cpu_reducers {

/// Small whole numbers, so that the order does not show; the last row must not be read beyond.
template <combine How, class T> void check_rows() {
    compile_reducer<How, T>();
    const auto c = the_kernels().reducers.find(detail::kernel_key(to_string(How), dtype_of<T>));
    REQUIRE(c);
    for (const std::size_t rows : {0, 1, 2, 3, 4, 5, 32, 33})
        for (const std::size_t n : {1, 3, 10, 16, 17, 40}) {
            const auto in = std::make_unique<T[]>(rows * n);
            for (std::size_t i = 0; i < rows * n; ++i) in[i] = static_cast<T>(static_cast<float>(i % 5) - 1);
            std::vector<T> out(n + 1, static_cast<T>(3.f)), wanted(out);
            for (std::size_t k = 0; k < rows; ++k)
                c->merge(wanted.data(), in.get() + k * n, static_cast<std::int64_t>(n));
            c->fold_rows(out.data(), in.get(), static_cast<std::int64_t>(rows), static_cast<std::int64_t>(n));
            INFO(to_string(How) << " of " << to_string(dtype_of<T>) << ", " << rows << " rows of " << n);
            CHECK(out == wanted);
        }
}

TEST_CASE("reducers: rows into one") {
    check_rows<combine::sum, float>();
    check_rows<combine::sum, double>();
    check_rows<combine::sum, std::int64_t>();
    check_rows<combine::sum, half>();
    check_rows<combine::sum, std::complex<float>>();
    check_rows<combine::max, float>();
    check_rows<combine::min, int>();
}

template <combine How, class T, class F> void check(T identity, const F& together) {
    compile_reducer<How, T>();
    const auto c = the_kernels().reducers.find(detail::kernel_key(to_string(How), dtype_of<T>));
    REQUIRE(c);
    for (const std::int64_t n : {0, 1, 3, 15, 16, 17, 64, 67, 1000}) {
        const auto count = static_cast<std::size_t>(n);
        const auto a = std::make_unique<T[]>(count),
                   b = std::make_unique<T[]>(count); // as long as needed: sanitizers see beyond
        T folded = identity;
        for (std::size_t i = 0; i < count; ++i) {
            // of products, so few factors beside 1 that no order of them overflows
            const bool few = How == combine::prod && i % 50 != 3;
            a[i] = few ? T(1) : static_cast<T>(static_cast<int>(i * 7 % 5) - 1);
            b[i] = few ? T(1) : static_cast<T>(static_cast<int>(i * 3 % 4));
            folded = together(folded, a[i]);
        }
        T got{};
        c->init(&got, 1);
        CHECK(got == identity);
        c->fold(&got, a.get(), n);
        CHECK(got == folded);
        const T before = got;
        c->fold(&got, b.get(), n); // goes on from what is there
        T more = before;
        for (std::size_t i = 0; i < count; ++i) more = together(more, b[i]);
        CHECK(got == more);
        bool right = true;
        const auto to = std::make_unique<T[]>(count);
        std::copy_n(a.get(), count, to.get());
        c->merge(to.get(), b.get(), n);
        for (std::size_t i = 0; i < count; ++i) right = right && to[i] == together(a[i], b[i]);
        CHECK(right);
    }
}

} // namespace test_device_cpu_reducers

TEMPLATE_TEST_CASE("reducers: every way over every width", "", float, double, std::int8_t, std::uint8_t, std::int16_t,
                   std::int32_t, std::int64_t) {
    using T = TestType;
    using limits = std::numeric_limits<T>;
    using test_device_cpu_reducers::check;
    check<combine::sum, T>(T(0), [](T a, T b) { return static_cast<T>(a + b); });
    check<combine::max, T>(limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest(),
                           [](T a, T b) { return std::max(a, b); });
    check<combine::min, T>(limits::has_infinity ? limits::infinity() : limits::max(),
                           [](T a, T b) { return std::min(a, b); });
    check<combine::prod, T>(T(1), [](T a, T b) { return static_cast<T>(a * b); });
}

TEST_CASE("reducers: of bool, complex numbers and halves") {
    using test_device_cpu_reducers::check;
    check<combine::any, bool>(false, [](bool a, bool b) { return a || b; });
    check<combine::all, bool>(true, [](bool a, bool b) { return a && b; });
    check<combine::sum, std::complex<double>>(0, [](auto a, auto b) { return a + b; });
    compile_reducer<combine::max, half>();
    const auto max = the_kernels().reducers.find("Max/half");
    REQUIRE(max);
    const half values[] = {half(1.5f), half(-2.f), half(0.25f)};
    half most{};
    max->init(&most, 1);
    CHECK(static_cast<float>(most) == -std::numeric_limits<float>::infinity());
    max->fold(&most, values, 3);
    CHECK(static_cast<float>(most) == 1.5f);
}

TEST_CASE("reducers: NaN wins over every maximum and minimum") {
    compile_reducer<combine::max, float>();
    compile_reducer<combine::min, float>();
    for (const char* key : {"Max/float32", "Min/float32"}) {
        const auto c = the_kernels().reducers.find(key);
        for (const std::size_t n : {1u, 20u, 200u})
            for (const std::size_t at : {std::size_t(0), n / 2, n - 1}) {
                std::vector<float> v(n, 1.f);
                v[at] = std::nanf("");
                float got = 0;
                c->init(&got, 1);
                c->fold(&got, v.data(), static_cast<std::int64_t>(n));
                CHECK(std::isnan(got));
            }
    }
}
