// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/random/random.hpp>

#include <limits>
#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_random {

template <class T, class Fill> std::vector<T> drawn(std::size_t n, const Fill& fill, const random_stream& s = {42, 3}) {
    std::vector<T> out(n + 1, T(99));
    fill(static_cast<index_t>(n), s, out.data());
    CHECK(out.back() == T(99)); // nothing behind the end is touched
    out.pop_back();
    return out;
}
template <class T> auto uniform(double from, double end) {
    return [=](index_t n, const random_stream& s, T* to) { fill_uniform(n, s, from, end, to); };
}
template <class T> auto normal(double mean, double deviation) {
    return [=](index_t n, const random_stream& s, T* to) { fill_normal(n, s, mean, deviation, to); };
}
template <class T> auto truncated(double mean, double deviation) {
    return [=](index_t n, const random_stream& s, T* to) { fill_truncated_normal(n, s, mean, deviation, to); };
}

/// However many are drawn, each is the same.
template <class T, class Fill> void check_places(const Fill& fill) {
    const auto all = drawn<T>(1000, fill);
    for (const std::size_t n : {0u, 1u, 2u, 3u, 5u, 31u, 33u, 64u, 65u, 129u, 999u}) {
        const auto some = drawn<T>(n, fill);
        CHECK(std::equal(some.begin(), some.end(), all.begin()));
    }
    CHECK(drawn<T>(1000, fill) == all);
    CHECK(drawn<T>(1000, fill, {42, 4}) != all);
    CHECK(drawn<T>(1000, fill, {43, 3}) != all);
}

struct moments {
    double mean = 0, variance = 0;
};
template <class T> moments moments_of(const std::vector<T>& v) {
    moments m;
    for (const T x : v) m.mean += static_cast<double>(x);
    m.mean /= static_cast<double>(v.size());
    for (const T x : v) m.variance += (static_cast<double>(x) - m.mean) * (static_cast<double>(x) - m.mean);
    m.variance /= static_cast<double>(v.size());
    return m;
}

/// The largest distance between the share of values below x and its probability.
template <class T, class F> double distance(std::vector<T> v, const F& probability_below) {
    std::sort(v.begin(), v.end());
    double most = 0;
    for (std::size_t i = 0; i < v.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(i) / static_cast<double>(v.size()) -
                                       probability_below(static_cast<double>(v[i]))));
    return most;
}
double below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.)); }

TEST_CASE("random: batches of blocks are the stream's blocks") {
    const random_stream s{0x123456789abcdef0, 0xfedcba9876543210};
    const std::uint64_t first = 0xfffffff8;
    const detail::block_batch<16> batch(s, first);
    for (int k = 0; k < 16; ++k) {
        const auto b = s.block(first + static_cast<std::uint64_t>(k));
        for (std::size_t w = 0; w < 4; ++w) CHECK(batch.word[w][k] == b[w]);
        CHECK(batch.bits(1, k) == (b[2] | std::uint64_t(b[3]) << 32));
    }
}

TEST_CASE("random: upper halves of products") {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    static_assert(detail::upper_product(most, most) == most - 1);
    static_assert(detail::upper_product(most, 1) == 0 && detail::upper_product(std::uint64_t(1) << 63, 6) == 3);
    static_assert(detail::upper_product(0xffffffffu, 0xffffffffu) == 0);
    static_assert(detail::upper_product(0x123456789abcdef0, 0xfedcba9876543210) == 0x121fa00ad77d7422);
    SUCCEED();
}

TEST_CASE("random: places") {
    check_places<float>(uniform<float>(-1, 3));
    check_places<double>(uniform<double>(-1, 3));
    check_places<half>(uniform<half>(-1, 3));
    check_places<int>(uniform<int>(-1000, 1000));
    check_places<std::int64_t>(uniform<std::int64_t>(-1000, 1000));
    check_places<float>(normal<float>(1, 2));
    check_places<double>(normal<double>(1, 2));
    check_places<bfloat16>(normal<bfloat16>(1, 2));
    check_places<float>(truncated<float>(1, 2));
    check_places<double>(truncated<double>(1, 2));
}

TEST_CASE("random: uniform numbers from the stream's bits") {
    const random_stream s{42, 3};
    const auto f = drawn<float>(200, uniform<float>(0, 1));
    const auto d = drawn<double>(200, uniform<double>(0, 1));
    bool right = true;
    for (std::size_t i = 0; i < 200; ++i) {
        const auto bf = s.block(i / 4), bd = s.block(i / 2);
        right = right && f[i] == static_cast<float>(bf[i % 4] >> 8) / 16777216.f;
        const std::uint64_t bits = bd[i % 2 * 2] | std::uint64_t(bd[i % 2 * 2 + 1]) << 32;
        right = right && d[i] == static_cast<double>(bits >> 11) / 9007199254740992.;
    }
    CHECK(right);
    // the format: these numbers may never change
    CHECK(drawn<int>(8, uniform<int>(-10, 10), {7, 0}) == std::vector<int>{5, -9, 5, 9, -10, 6, -5, -8});
}

TEST_CASE("random: uniform numbers stay in their range and fill it") {
    const auto f = drawn<float>(100000, uniform<float>(-2, 6));
    CHECK(*std::min_element(f.begin(), f.end()) >= -2.f);
    CHECK(*std::max_element(f.begin(), f.end()) < 6.f);
    CHECK(distance(f, [](double x) { return (x + 2) / 8; }) < 0.006);
    const auto d = drawn<double>(100000, uniform<double>(-2, 6));
    CHECK(distance(d, [](double x) { return (x + 2) / 8; }) < 0.006);
    for (const half h : drawn<half>(5000, uniform<half>(0, 1))) CHECK((h >= half(0.f) && h < half(1.f)));
    const float next = std::nextafter(1.f, 2.f);
    for (const float x : drawn<float>(1000, uniform<float>(1, static_cast<double>(next)))) CHECK(x == 1.f);
    for (const float x : drawn<float>(10, uniform<float>(3, 3))) CHECK(x == 3.f);
    for (const double x : drawn<double>(10, uniform<double>(3, 3))) CHECK(x == 3.);
}

TEMPLATE_TEST_CASE("random: narrow uniform numbers lie below x as often as the range does", "", half, bfloat16) {
    constexpr std::size_t n = 400'000;
    for (const auto& [from, end] : {std::pair(0.f, 1.f), {-1.f, 1.f}, {-3.f, -2.f}}) {
        const auto all = drawn<TestType>(n, uniform<TestType>(from, end));
        for (const float share : {0x1p-11f, 0.25f, 0.875f}) {
            const float x = static_cast<float>(TestType(from + share * (end - from)));
            const double part = static_cast<double>(x - from) / static_cast<double>(end - from);
            const auto below =
                std::count_if(all.begin(), all.end(), [&](TestType y) { return static_cast<float>(y) < x; });
            INFO(from << " to " << end << ", below " << x);
            CHECK(std::abs(static_cast<double>(below) / n - part) < 5 * std::sqrt(part * (1 - part) / n) + 1e-7);
        }
        // rounded to the nearest, those close to the end would have come here
        const auto first =
            std::count_if(all.begin(), all.end(), [&, low = from](TestType y) { return static_cast<float>(y) == low; });
        if (from == 0.f) CHECK(first < 3);
    }
}

TEST_CASE("random: uniform integers") {
    const auto dice = drawn<std::uint8_t>(60000, uniform<std::uint8_t>(1, 7));
    for (std::uint8_t face = 1; face <= 6; ++face)
        CHECK(std::abs(std::count(dice.begin(), dice.end(), face) - 10000) < 400);
    CHECK(*std::min_element(dice.begin(), dice.end()) == 1);
    CHECK(*std::max_element(dice.begin(), dice.end()) == 6);
    using limits = std::numeric_limits<int>;
    const auto all = drawn<int>(100000, uniform<int>(limits::min(), 2147483648.));
    CHECK(distance(all, [](double x) { return (x + 2147483648.) / 4294967296.; }) < 0.006);
    const auto wide = drawn<std::int64_t>(100000, uniform<std::int64_t>(-9223372036854775808., 9223372036854775808.));
    CHECK(distance(wide, [](double x) { return x / 18446744073709551616. + 0.5; }) < 0.006);
    const auto top = drawn<std::uint64_t>(1000, uniform<std::uint64_t>(9223372036854775808., 18446744073709551616.));
    CHECK(*std::min_element(top.begin(), top.end()) >= std::uint64_t(1) << 63);
    for (const int x : drawn<int>(10, uniform<int>(-3, -2))) CHECK(x == -3);
}

TEST_CASE("random: normal numbers") {
    const auto f = drawn<float>(100000, normal<float>(0, 1));
    CHECK(distance(f, below) < 0.006);
    const auto d = drawn<double>(100000, normal<double>(3, 2));
    CHECK(distance(d, [](double x) { return below((x - 3) / 2); }) < 0.006);
    CHECK(moments_of(d).mean == Approx(3).margin(0.03));
    CHECK(moments_of(d).variance == Approx(4).margin(0.08));
    double product = 0; // of neighbours, which come from one pair of uniforms
    for (std::size_t i = 0; i + 1 < f.size(); i += 2) product += static_cast<double>(f[i] * f[i + 1]);
    CHECK(std::abs(product / 50000) < 0.02);
    CHECK(moments_of(drawn<half>(20000, normal<half>(0, 1))).variance == Approx(1).margin(0.05));
    for (const float x : drawn<float>(10, normal<float>(5, 0))) CHECK(x == 5.f);
}

TEST_CASE("random: a truncated normal is a normal without its tails") {
    const double share = below(2) - below(-2);
    const auto f = drawn<float>(100000, truncated<float>(0, 1));
    CHECK(*std::min_element(f.begin(), f.end()) >= -2.f);
    CHECK(*std::max_element(f.begin(), f.end()) <= 2.f);
    CHECK(distance(f, [&](double x) { return (below(x) - below(-2)) / share; }) < 0.006);
    const auto d = drawn<double>(100000, truncated<double>(1, 3));
    CHECK(distance(d, [&](double x) { return (below((x - 1) / 3) - below(-2)) / share; }) < 0.006);
    const auto whole = drawn<float>(100000, normal<float>(0, 1));
    std::size_t same = 0, redrawn = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
        (std::abs(whole[i]) <= 2 ? same += whole[i] == f[i] : redrawn += whole[i] != f[i]);
    CHECK(same + redrawn == whole.size()); // only what lies outside is drawn again
    CHECK(redrawn > 4000);
}

} // namespace test_device_cpu_random
