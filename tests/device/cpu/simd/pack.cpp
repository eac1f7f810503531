// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/pack.hpp>

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/ceil.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/sign.hpp>

#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_pack {

template <class T> T any_value(std::mt19937& r) {
    using limits = std::numeric_limits<T>;
    const auto pick = r();
    if constexpr (std::is_floating_point_v<T>) {
        const T special[] = {0,
                             T(-0.0),
                             1,
                             -1,
                             limits::infinity(),
                             -limits::infinity(),
                             limits::quiet_NaN(),
                             limits::max(),
                             limits::denorm_min(),
                             T(0.5),
                             T(-2.5),
                             T(3e9),
                             T(-3e9),
                             T(2147483648.0),
                             T(1e30)};
        if (pick % 2) return special[(pick >> 1) % std::size(special)];
        return static_cast<T>(std::normal_distribution<double>(0, 100)(r));
    } else {
        const T special[] = {0, 1, T(-1), limits::max(), limits::min(), T(limits::max() / 2), 2, 3};
        if (pick % 2) return special[(pick >> 1) % std::size(special)];
        return static_cast<T>(std::uniform_int_distribution<std::int64_t>(-100, 200)(r));
    }
}

template <class T> bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        if (a != a && b != b) return true; // one NaN is as good as another
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// f of each lane: the reference.
template <class T, class U, class F> RILL_NO_INLINE void by_lanes(const F& f, const T* a, const T* b, U* out, int n) {
    for (int i = 0; i < n; ++i) out[i] = f(lane<T>(a[i]), lane<T>(b[i])).v;
}

/// f on packs and on lanes must agree in every bit; the result may be a pack or a mask.
template <int N, class T, class F> bool agree(const F& f, const T* a, const T* b) {
    using V = pack<T, N>;
    using U = decltype(f(lane<T>(), lane<T>()).v);
    U out[N], expected[N];
    pack<U, N>(f(V::load(a), V::load(b))).store(out);
    by_lanes(f, a, b, expected, N);
    return std::equal(out, out + N, expected, same<U>);
}

template <class T, class... F> void check_agreement(const F&... f) {
    constexpr int N = 2 * lanes_for<T>; // two registers
    std::mt19937 random(7);
    std::vector<int> failed;
    for (int round = 0; round < 200; ++round) {
        T a[N], b[N];
        for (int i = 0; i < N; ++i) a[i] = any_value<T>(random), b[i] = any_value<T>(random);
        int index = 0;
        ((agree<N>(f, a, b) ? void() : failed.push_back(index), ++index), ...);
    }
    CHECK(failed == std::vector<int>{});
}

template <class U> struct cast_rule {
    template <class V> auto operator()(const V& a, const V&) const { return cast_to<U>(a); }
};

TEMPLATE_TEST_CASE("packs follow lanes bit for bit", "", float, double, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
    SECTION("arithmetic") {
        check_agreement<TestType>([](auto a, auto b) { return a + b; }, [](auto a, auto b) { return a - b; },
                                  [](auto a, auto b) { return a * b; }, [](auto a, auto b) { return a / b; },
                                  [](auto a, auto) { return -a; }, [](auto a, auto) { return 2 + a; },
                                  [](auto a, auto b) { return max(a, b); }, [](auto a, auto b) { return min(a, b); },
                                  [](auto a, auto) { return max(a, 0); }, [](auto a, auto) { return abs(a); },
                                  [](auto a, auto) { return sign(a); });
        if constexpr (std::is_floating_point_v<TestType>)
            check_agreement<TestType>([](auto a, auto) { return floor(a); }, [](auto a, auto) { return ceil(a); });
    }
    SECTION("comparison and selection") {
        check_agreement<TestType>([](auto a, auto b) { return a == b; }, [](auto a, auto b) { return a != b; },
                                  [](auto a, auto b) { return a < b; }, [](auto a, auto b) { return a <= b; },
                                  [](auto a, auto b) { return a > b; }, [](auto a, auto b) { return a >= b; },
                                  [](auto a, auto b) { return select(a < b, a, b); },
                                  [](auto a, auto b) { return select(a < b && a != 0, 1, b); },
                                  [](auto a, auto b) { return !(a < b) || a == 1; });
    }
}

TEMPLATE_TEST_CASE("conversions follow lanes bit for bit", "", float, double, std::int8_t, std::int32_t, std::int64_t,
                   std::uint8_t) {
    check_agreement<TestType>(cast_rule<float>{}, cast_rule<double>{}, cast_rule<std::int32_t>{},
                              cast_rule<std::uint8_t>{}, cast_rule<std::int64_t>{}, cast_rule<bool>{});
}

TEST_CASE("integer remainders and powers") {
    constexpr int N = lanes_for<std::int32_t>;
    std::int32_t out[N];
    (pack<std::int32_t, N>(-17) % 5).store(out);
    CHECK(out[N - 1] == -2);
    pow(pack<std::int32_t, N>(-3), 5).store(out);
    CHECK(out[N - 1] == -243);
}

TEMPLATE_TEST_CASE("a part of a pack touches nothing else", "", float, double, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t, bool) {
    constexpr int N = 2 * lanes_for<TestType>;
    using V = pack<TestType, N>;
    for (int count = 1; count < N; ++count) {
        // exactly as long as needed: sanitizers see what is beyond
        const auto n = static_cast<std::size_t>(count);
        const auto from = std::make_unique<TestType[]>(n), to = std::make_unique<TestType[]>(n);
        for (std::size_t i = 0; i < n; ++i) from[i] = static_cast<TestType>(i + 1);
        const V x = V::load_partial(from.get(), count);
        TestType all[N], after[N];
        x.store(all);
        bool right = true;
        for (int i = 0; i < N; ++i) right = right && all[i] == from[static_cast<std::size_t>(std::min(i, count - 1))];
        x.store_partial(to.get(), count);
        for (std::size_t i = 0; i < n; ++i) right = right && to[i] == from[i];
        std::fill(after, after + N, TestType(0));
        x.store_partial(after, count);
        for (int i = count; i < N; ++i) right = right && after[i] == TestType(0);
        CHECK(right);
    }
}

TEST_CASE("padding raises no error") {
    detail::sticky_errors() = 0;
    const std::int32_t a[] = {6, 7, 8}, b[] = {1, 2, 3};
    std::int32_t c[3];
    using V = pack<std::int32_t, 16>;
    (V::load_partial(a, 3) / V::load_partial(b, 3)).store_partial(c, 3);
    CHECK(c[2] == 2);
    CHECK(detail::sticky_errors() == 0);
}

TEST_CASE("masks serve values of other types and come from memory") {
    constexpr int N = lanes_for<float, double, std::int8_t>;
    float f[N];
    double d[N];
    std::int8_t s[N];
    bool b[N];
    for (int i = 0; i < N; ++i)
        f[i] = static_cast<float>(i % 3), d[i] = i, s[i] = static_cast<std::int8_t>(i), b[i] = i % 5 == 0;
    const auto F = pack<float, N>::load(f);
    const auto D = pack<double, N>::load(d);
    const auto S = pack<std::int8_t, N>::load(s);
    const auto B = pack<bool, N>::load(b);
    const auto holds = [](const pack<bool, N>& x, auto expected) {
        bool out[N];
        x.store(out);
        for (int i = 0; i < N; ++i)
            if (out[i] != expected(i)) return false;
        return true;
    };
    const auto third = [](int i) { return i % 3 == 1; };
    CHECK(holds(F == 1, third));
    CHECK(holds(select(F == 1, D, -1) >= 0, third));
    CHECK(holds(select(F == 1, S, -1) >= 0, third));
    CHECK(holds(select(D > 7, F, -1) >= 0, [](int i) { return i > 7; }));
    CHECK(holds(select(S > 7, D, -1) >= 0, [](int i) { return i > 7; }));
    CHECK(holds(select(B, F, -1) >= 0, [](int i) { return i % 5 == 0; }));
    CHECK(holds(select(B, S, -1) >= 0, [](int i) { return i % 5 == 0; }));
    CHECK(holds(F == 1 && B, [](int i) { return i % 3 == 1 && i % 5 == 0; }));
    CHECK(holds(B || D > 9, [](int i) { return i > 9 || i % 5 == 0; }));
    CHECK(holds((F == 1) != (D > 3), [](int i) { return (i % 3 == 1) != (i > 3); }));
    CHECK(holds(!B, [](int i) { return i % 5 != 0; }));
    CHECK(holds(B && !(D == 0), [](int i) { return i % 5 == 0 && i != 0; }));
    CHECK(holds(B == (D == 0), [](int i) { return (i % 5 == 0) == (i == 0); }));
    CHECK(holds(select(B, F == 1, D > 3), [](int i) { return i % 5 == 0 ? i % 3 == 1 : i > 3; }));
    CHECK(holds(select(D > 3, B, !B), [](int i) { return (i % 5 == 0) == (i > 3); }));
    CHECK(holds(cast_to<float>(D > 3) == 1, [](int i) { return i > 3; }));
    CHECK(holds(cast_to<std::int64_t>(B) == 1, [](int i) { return i % 5 == 0; }));
    CHECK(holds(cast_to<bool>(F), [](int i) { return i % 3 != 0; }));
}

TEMPLATE_TEST_CASE("reductions join halves", "", float, double, std::int32_t, std::uint8_t) {
    constexpr int N = 2 * lanes_for<TestType>;
    TestType x[N];
    for (int i = 0; i < N; ++i) x[i] = static_cast<TestType>((i * 7) % 11 + 1);
    const auto v = pack<TestType, N>::load(x);
    TestType sum = 0, most = x[0], least = x[0];
    for (TestType e : x) sum = static_cast<TestType>(sum + e), most = std::max(most, e), least = std::min(least, e);
    CHECK(reduce_add(v) == sum);
    CHECK(reduce_max(v) == most);
    CHECK(reduce_min(v) == least);
}

TEST_CASE("types without registers go lane by lane") {
    SECTION("half") {
        constexpr int N = lanes_for<half>;
        half x[N], y[N];
        for (int i = 0; i < N; ++i) x[i] = half(static_cast<float>(i));
        (2 * pack<half, N>::load(x) + exp(pack<half, N>(0))).store(y);
        CHECK(static_cast<float>(y[3]) == 7);
        float f[N];
        cast_to<float>(pack<half, N>::load(x)).store(f);
        CHECK(f[5] == 5);
    }
    SECTION("complex") {
        using C = std::complex<float>;
        constexpr int N = lanes_for<C>;
        C x[N], y[N];
        for (int i = 0; i < N; ++i) x[i] = C(3.0f * static_cast<float>(i), 4.0f * static_cast<float>(i));
        const auto v = pack<C, N>::load(x);
        (v * conj(v)).store(y);
        CHECK(y[2] == C(100, 0));
        CHECK(reduce_add(v) == C(3, 4) * static_cast<float>(N * (N - 1) / 2));
        select(v == C(0), C(1), v).store(y);
        CHECK(y[0] == C(1));
    }
    SECTION("strings") {
        static_assert(lanes_for<std::string, bool, float> == 1);
        const std::string x[] = {"a", "b", "c", "d"};
        std::string y[4];
        (pack<std::string, 4>::load(x) + pack<std::string, 4>(std::string("!"))).store(y);
        CHECK(y[3] == "d!");
        bool b[4];
        pack<bool, 4>(pack<std::string, 4>::load(x) == std::string("b")).store(b);
        CHECK((!b[0] && b[1]));
    }
}

TEST_CASE("lane counts") {
    static_assert(lanes_for<float> >= 4 || !RILL_WITH_XSIMD || RILL_ISA_LEVEL == 0);
    static_assert(lanes_for<float, double> == lanes_for<float> && lanes_for<std::complex<float>> == 8);
    static_assert(lanes_for<bool, float> == lanes_for<float> && lanes_for<half, float> == lanes_for<float>);
    static_assert(lanes_for<std::int8_t, float> == lanes_for<std::int8_t>);
    CHECK(sizeof(pack<float, lanes_for<float>>) == sizeof(float) * lanes_for<float>);
}

} // namespace test_device_cpu_pack
