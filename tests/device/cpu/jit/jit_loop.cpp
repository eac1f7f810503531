// SPDX-License-Identifier: BSD-3-Clause
// Loops over numbers as machine code, beside loops in plain C++.
#include <rill/device/cpu/jit/jit_loop.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include <rill/ops/catalogue.hpp>
#include <rill/rill.hpp>

#include "catch.hpp"
#include "device/cpu/jit/loop_machine.hpp"

using namespace rill;

namespace test_device_cpu_jit_jit_loop {

using namespace loop_machine;

template <class T> std::vector<T> special_values() {
    using limits = std::numeric_limits<T>;
    std::vector<T> all{T(0), T(1), T(-1), T(7), limits::max(), limits::lowest()};
    if constexpr (std::is_floating_point_v<T>)
        for (const double x : {0.5, -0.5, -2.75, 1e9, 2147483647., 2147483648., -2147483648., -2147483649., 4e9, 1e18,
                               9223372036854775808., -9223372036854775808., -1e19, 1e300, 1e-40, -0.})
            all.push_back(static_cast<T>(x));
    else
        all.insert(all.end(), {limits::max() - 1, limits::min() + 1, T(1) << (limits::digits - 1), T(16777217)});
    if constexpr (std::is_floating_point_v<T>)
        all.insert(all.end(), {limits::quiet_NaN(), limits::infinity(), -limits::infinity(), limits::denorm_min()});
    return all;
}

template <class T> void sums_and_products() {
    const graph_scope here{graph()};
    placeholder<T> a("a"), b("b");
    placeholder<int> n("n");
    const auto loop =
        while_loop([&](auto i, auto, auto) { return i < n; },
                   [&](auto i, auto x, auto y) { return std::tuple(i + 1, x * a + y, y - b); }, 0, T(1), T(2));
    const T by = T(3), less = T(5);
    at_each_level([&](int level) {
        const machine m(std::get<1>(loop), level);
        for (const int steps : {0, 1, 2, 3, 40}) {
            CAPTURE(steps);
            int i = 0;
            T x = T(1), y = T(2), expected_x = T(1), expected_y = T(2);
            for (int k = 0; k < steps; ++k) {
                using lanes = lane<T>;
                const T next = std::is_integral_v<T> ? (lanes(expected_x) * lanes(by) + lanes(expected_y)).v
                                                     : static_cast<T>(std::fma(expected_x, by, expected_y));
                expected_x = next;
                expected_y = (lanes(expected_y) - lanes(less)).v;
            }
            CHECK(m.run({&i, &x, &y}, {&steps, &by, &less}, 100) == steps);
            CHECK(i == steps);
            CHECK(same(x, expected_x));
            CHECK(same(y, expected_y));
            if (steps == 40) { // in two calls
                i = 0, x = T(1), y = T(2);
                CHECK(m.run({&i, &x, &y}, {&steps, &by, &less}, 15) == 15);
                CHECK(i == 15);
                CHECK(m.run({&i, &x, &y}, {&steps, &by, &less}, 0) == 0);
                CHECK(m.run({&i, &x, &y}, {&steps, &by, &less}, 100) == 25);
                CHECK(same(x, expected_x));
            }
        }
    });
}

TEST_CASE("jit_loop: a counter beside numbers of each type, and integers that wrap") {
    sums_and_products<float>();
    sums_and_products<double>();
    sums_and_products<std::int32_t>();
    sums_and_products<std::int64_t>();
}

template <class From, class To> void conversions() {
    const graph_scope here{graph()};
    const auto loop = while_loop([](auto i, auto, auto) { return i < 1; },
                                 [](auto i, auto x, auto) { return std::tuple(i + 1, x, cast<To>(x)); }, 0,
                                 constant(From(0)), constant(To(0)));
    at_each_level([&](int level) {
        const machine m(std::get<2>(loop), level);
        for (const From x : special_values<From>()) {
            CAPTURE(x);
            int i = 0;
            From from = x;
            To to = To(5);
            CHECK(m.run({&i, &from, &to}, {}, 10) == 1);
            CHECK(same(from, x));
            CHECK(same(to, detail::convert<To>(x)));
        }
    });
}
template <class From> void conversions_of() {
    conversions<From, float>();
    conversions<From, double>();
    conversions<From, std::int32_t>();
    conversions<From, std::int64_t>();
}

TEST_CASE("jit_loop: conversions between all types, also of special values") {
    conversions_of<float>();
    conversions_of<double>();
    conversions_of<std::int32_t>();
    conversions_of<std::int64_t>();
}

/// Runs while x < limit, with a choice in the body.
template <class T> void comparisons() {
    const graph_scope here{graph()};
    placeholder<T> limit("limit");
    const auto loop =
        while_loop([&](auto i, auto x, auto) { return logical_and(x < limit, i < std::int64_t(10)); },
                   [&](auto i, auto x, auto y) { return std::tuple(i + std::int64_t(1), select(x > y, x, y), x); },
                   constant(std::int64_t(0)), constant(T(0)), constant(T(0)));
    at_each_level([&](int level) {
        const machine m(std::get<1>(loop), level);
        for (const T first : special_values<T>())
            for (const T second : special_values<T>())
                for (const T end : special_values<T>()) {
                    CAPTURE(first, second, end);
                    std::int64_t i = 0, k = 0;
                    T x = first, y = second, expected_x = first, expected_y = second;
                    for (; expected_x < end && k < 10; ++k) {
                        const T next = expected_x > expected_y ? expected_x : expected_y;
                        expected_y = expected_x, expected_x = next;
                    }
                    const bool right =
                        m.run({&i, &x, &y}, {&end}, 100) == k && i == k && same(x, expected_x) && same(y, expected_y);
                    if (!right) CHECK(right);
                }
    });
}

TEST_CASE("jit_loop: comparisons with NaN and extreme numbers, beside a counter of another size") {
    comparisons<float>();
    comparisons<double>();
    comparisons<std::int32_t>();
    comparisons<std::int64_t>();
}

TEST_CASE("jit_loop: state that stays, changes places, has no reader, or is a truth value") {
    const graph_scope here{graph()};
    placeholder<double> d("d");
    const auto loop = while_loop([](auto go, auto, auto, auto, auto, auto, auto) { return go; },
                                 [&](auto, auto i, auto p, auto q, auto r, auto, auto flag) {
                                     return std::tuple(i < 4, i + 1, q, r, p, cast<double>(i) * d, logical_not(flag));
                                 },
                                 constant(true), 0, 1.f, 2.f, 3.f, 0., constant(false));
    const double by = 0.25;
    at_each_level([&](int level) {
        const machine m(std::get<1>(loop), level);
        for (const bool start : {true, false}) {
            std::array<std::uint8_t, 2> flags{start, 1};
            int i = 0;
            float p = 1, q = 2, r = 3;
            double last = -1;
            const std::vector<void*> state{&flags[0], &i, &p, &q, &r, &last, &flags[1]};
            CHECK(m.run(state, {&by}, 100) == (start ? 5 : 0));
            CHECK(i == (start ? 5 : 0));
            CHECK(flags[0] == 0);
            CHECK(flags[1] == (start ? 0 : 1));
            CHECK(std::tuple(p, q, r) == (start ? std::tuple(3.f, 1.f, 2.f) : std::tuple(1.f, 2.f, 3.f)));
            CHECK(last == (start ? 1. : -1.));
        }
    });
}

/// A loop over 40 numbers, which do not fit the registers.
template <class T> void many() {
    const graph_scope here{graph()};
    constexpr std::size_t count = 40;
    std::vector<any_tensor> first{any_tensor(constant(0))};
    for (std::size_t k = 0; k < count; ++k) first.emplace_back(constant(T(0)));
    const auto loop = while_loop([](const auto& s) { return any_tensor(tensor<int>(s[0]) < 5); },
                                 [](const auto& s) {
                                     std::vector<any_tensor> next{any_tensor(tensor<int>(s[0]) + 1)};
                                     for (std::size_t k = 1; k < s.size(); ++k) {
                                         const std::size_t other = k % (s.size() - 1) + 1;
                                         next.emplace_back(tensor<T>(s[other]) + tensor<T>(s[k]) * T(2));
                                     }
                                     return next;
                                 },
                                 first);
    at_each_level([&](int level) {
        const machine m(loop[0], level);
        std::vector<T> x, expected;
        for (std::size_t k = 0; k < count; ++k) x.push_back(static_cast<T>(k * k));
        expected = x;
        for (int k = 0; k < 5; ++k) {
            auto next = expected;
            for (std::size_t j = 0; j < count; ++j) next[j] = expected[(j + 1) % count] + expected[j] * T(2);
            expected = next;
        }
        int i = 0;
        std::vector<void*> state{&i};
        for (auto& number : x) state.push_back(&number);
        CHECK(m.run(state, {}, 100) == 5);
        CHECK(x == expected);
    });
}

TEST_CASE("jit_loop: more numbers than registers") {
    many<float>();
    many<double>();
    many<std::int32_t>();
    many<std::int64_t>();
}

TEST_CASE("jit_loop: slices and stacked outputs of all sizes, both ways") {
    const graph_scope here{graph()};
    constexpr std::size_t n = 5;
    placeholder<float, n> fs("fs");
    placeholder<double, n> ds("ds");
    placeholder<std::int64_t, n> is("is");
    placeholder<bool, n> bs("bs");
    const std::array<float, n> f{1, 2, 3, 4, 5};
    const std::array<double, n> d{0.5, 1.5, 2.5, 3.5, 4.5};
    const std::array<std::int64_t, n> whole{10, -20, 30, -40, 50};
    const std::array<std::uint8_t, n> b{1, 0, 0, 1, 1};
    for (const bool reverse : {false, true}) {
        const auto [last, all] = scan(
            [](auto s, const auto& e) {
                const auto& [x, y, i, flag] = e;
                const auto sum = s + y + cast<double>(x);
                return std::tuple(tensor<double>(sum),
                                  std::tuple(x * 2.f, sum, i + std::int64_t(1), logical_not(flag)));
            },
            constant(0.), std::tuple(fs, ds, is, bs), {.reverse = reverse});
        at_each_level([&](int level) {
            CAPTURE(reverse);
            const machine m(last, level);
            const std::size_t begin = reverse ? n - 1 : 0;
            double sum = 0;
            std::array<float, n> twice{};
            std::array<double, n> sums{};
            std::array<std::int64_t, n> more{};
            std::array<std::uint8_t, n> flags{7, 7, 7, 7, 7};
            CHECK(m.run({&sum}, {}, n, {&f[begin], &d[begin], &whole[begin], &b[begin]},
                        {&twice[begin], &sums[begin], &more[begin], &flags[begin]}) == n);
            CHECK(sum == 27.5);
            double expected = 0;
            for (std::size_t k = 0; k < n; ++k) {
                const std::size_t at = reverse ? n - 1 - k : k;
                expected += d[at] + static_cast<double>(f[at]);
                CHECK(twice[at] == 2 * f[at]);
                CHECK(sums[at] == expected);
                CHECK(more[at] == whole[at] + 1);
                CHECK(flags[at] == 1 - b[at]);
            }
        });
    }
}

TEST_CASE("jit_loop: elementary functions of two sizes, exact for large angles") {
    const graph_scope here{graph()};
    const auto loop = while_loop([](auto i, auto, auto) { return i < 6; },
                                 [](auto i, auto x, auto y) {
                                     const auto big = cast<double>(i) * 1e30;
                                     return std::tuple(i + 1, sin(cast<float>(big)) + tanh(x) * exp(-x),
                                                       sin(big) + sqrt(cast<double>(x * x) + y * y));
                                 },
                                 0, 0.5f, 0.25);
    at_each_level([&](int level) {
        const machine m(std::get<1>(loop), level);
        int i = 0;
        float x = 0.5f;
        double y = 0.25;
        CHECK(m.run({&i, &x, &y}, {}, 100) == 6);
        float expected_x = 0.5f;
        double expected_y = 0.25;
        for (int k = 0; k < 6; ++k) {
            const double big = k * 1e30;
            const float next = std::sin(static_cast<float>(big)) + std::tanh(expected_x) * std::exp(-expected_x);
            expected_y =
                std::sin(big) + std::sqrt(static_cast<double>(expected_x * expected_x) + expected_y * expected_y);
            expected_x = next;
        }
        CHECK(x == Approx(expected_x).epsilon(1e-5));
        CHECK(y == Approx(expected_y).epsilon(1e-6));
    });
}

TEST_CASE("jit_loop: equal loops share their code, and others have none") {
    const graph_scope here{graph()};
    const auto made = [](float by, auto first) {
        return while_loop([](auto v) { return v < 10.f; }, [&](auto v) { return v * by + 1.f; }, first);
    };
    const any_tensor a(made(2.f, 1.f)), b(made(3.f, 1.f));
    at_each_level([&](int level) {
        const machine x(a, level), y(b, level);
        CHECK(x.code.run == y.code.run); // constants are operands
        float v = 1.f;
        CHECK(y.run({&v}, {}, 100) == 2);
        CHECK(v == 13.f);
    });
    const auto small = while_loop([](auto v) { return v < std::int8_t(3); }, [](auto v) { return v + std::int8_t(1); },
                                  constant(std::int8_t(0)));
    CHECK_FALSE(detail::emit_loop(lowered(small).loop, best_level()).run);
    CHECK_FALSE(detail::emit_loop(lowered(a).loop, 2).run); // no vectors of this level
}

} // namespace test_device_cpu_jit_jit_loop
