// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/simd/pack_math.hpp>

#include <cmath>
#include <limits>
#include <random>

#include <rill/device/cpu/simd/pack.hpp>
#include <rill/ops/math/cos.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/sin.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/tan.hpp>
#include <rill/ops/math/tanh.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_cpu_pack_math {

/// The distance of two adjacent numbers of T at x.
template <class T> long double unit_at(long double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::ldexp(1.0L, std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits);
}

/// The largest error of f on [low, high], in units in the last place; infinite where a NaN or infinity is wrong.
template <class T, class F, class R>
long double worst_error(F f, R reference, double low, double high, bool by_magnitude = false) {
    constexpr int N = lanes_for<T>;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0, 1);
    const auto interpolate = [&](double u) { // a high / low could overflow
        return by_magnitude ? std::exp(std::log(low) * (1 - u) + std::log(high) * u) : low * (1 - u) + high * u;
    };
    long double worst = 0;
    for (int i = 0; i < 20000; i += N) {
        T x[N], y[N];
        for (auto& e : x) e = static_cast<T>(interpolate(uniform(random)));
        f(pack<T, N>::load(x)).store(y);
        for (int k = 0; k < N; ++k) {
            const long double exact = reference(static_cast<long double>(x[k]));
            const long double most = std::numeric_limits<T>::max();
            if (std::fabs(exact) > most) continue; // the edge of overflow is tested by itself
            const long double error = std::fabs(static_cast<long double>(y[k]) - exact) / unit_at<T>(exact);
            worst = error <= worst ? worst : std::isnan(error) ? std::numeric_limits<long double>::infinity() : error;
        }
    }
    return worst;
}

/// f of one number, which must be the same in all lanes.
template <class T, class F> T value_of(F f, T x) {
    constexpr int N = lanes_for<T>;
    T y[N];
    f(pack<T, N>(x)).store(y);
    for (T e : y) CHECK((e == y[0] || (std::isnan(e) && std::isnan(y[0]))));
    return y[0];
}

TEMPLATE_TEST_CASE("elementary functions are good to 2 units in the last place", "", float, double) {
    using T = TestType;
    using L = long double;
    const bool single = sizeof(T) == 4;
    const double most = single ? 88.7 : 709.7, least = single ? -103 : -744, tiny = single ? 1e-44 : 5e-323,
                 huge = single ? 3e38 : 1e308;
    const auto f_exp = [](auto x) { return exp(x); };
    const auto f_expm1 = [](auto x) { return expm1(x); };
    const auto f_log = [](auto x) { return log(x); };
    const auto f_log1p = [](auto x) { return log1p(x); };
    const auto f_tanh = [](auto x) { return tanh(x); };
    const auto f_sin = [](auto x) { return sin(x); };
    const auto f_cos = [](auto x) { return cos(x); };
    const auto f_tan = [](auto x) { return tan(x); };
    const auto f_sigmoid = [](auto x) { return 1 / (1 + exp(-x)); };
    SECTION("exp") {
        CHECK(worst_error<T>(f_exp, [](L x) { return std::exp(x); }, least, most) < 1.5);
        CHECK(worst_error<T>(f_exp, [](L x) { return std::exp(x); }, -2, 2) < 1.5);
    }
    SECTION("expm1") {
        CHECK(worst_error<T>(f_expm1, [](L x) { return std::expm1(x); }, least, most) < 2);
        CHECK(worst_error<T>(f_expm1, [](L x) { return std::expm1(x); }, -2, 2) < 2);
        CHECK(worst_error<T>(f_expm1, [](L x) { return std::expm1(x); }, tiny, 1, true) < 2);
    }
    SECTION("log") {
        CHECK(worst_error<T>(f_log, [](L x) { return std::log(x); }, tiny, huge, true) < 1.5);
        CHECK(worst_error<T>(f_log, [](L x) { return std::log(x); }, 0.5, 2) < 1.5);
    }
    SECTION("log1p") {
        CHECK(worst_error<T>(f_log1p, [](L x) { return std::log1p(x); }, tiny, huge, true) < 2);
        CHECK(worst_error<T>(f_log1p, [](L x) { return std::log1p(x); }, -0.99999, 2) < 2);
    }
    SECTION("tanh and the logistic function") {
        CHECK(worst_error<T>(f_tanh, [](L x) { return std::tanh(x); }, -25, 25) < 2);
        CHECK(worst_error<T>(f_tanh, [](L x) { return std::tanh(x); }, -1, 1) < 2);
        CHECK(worst_error<T>(f_tanh, [](L x) { return std::tanh(x); }, tiny, 30, true) < 2);
        CHECK(worst_error<T>(f_sigmoid, [](L x) { return 1 / (1 + std::exp(-x)); }, -30, 30) < 3);
    }
    SECTION("sin, cos, tan") {
        const double far = single ? 8000 : 1e6, beyond = single ? 1e30 : 1e60;
        CHECK(worst_error<T>(f_sin, [](L x) { return std::sin(x); }, -10, 10) < 2);
        CHECK(worst_error<T>(f_sin, [](L x) { return std::sin(x); }, -far, far) < 2);
        CHECK(worst_error<T>(f_sin, [](L x) { return std::sin(x); }, tiny, 1, true) < 2);
        CHECK(worst_error<T>(f_sin, [](L x) { return std::sin(x); }, far, beyond, true) < 2);
        CHECK(worst_error<T>(f_cos, [](L x) { return std::cos(x); }, -10, 10) < 2);
        CHECK(worst_error<T>(f_cos, [](L x) { return std::cos(x); }, -far, far) < 2);
        CHECK(worst_error<T>(f_tan, [](L x) { return std::tan(x); }, -10, 10) < 4);
    }
    SECTION("roots and powers") {
        CHECK(worst_error<T>([](auto x) { return sqrt(x); }, [](L x) { return std::sqrt(x); }, tiny, huge, true) <=
              0.5001);
        CHECK(worst_error<T>([](auto x) { return rsqrt(x); }, [](L x) { return 1 / std::sqrt(x); }, 1e-30, 1e30, true) <
              2);
        CHECK(worst_error<T>([](auto x) { return pow(x, 2.5); }, [](L x) { return std::pow(x, 2.5L); }, 1e-12, 1e12,
                             true) < 1);
        CHECK(worst_error<T>([](auto x) { return pow(3, x); }, [](L x) { return std::pow(3.0L, x); }, -70, 70) < 1);
        const T large = single ? 150 : 2100; // powers from the smallest numbers to the largest
        const L exponent = large;
        CHECK(worst_error<T>([&](auto x) { return pow(x, large); }, [&](L x) { return std::pow(x, exponent); }, 0.7,
                             1.42) < 1);
        CHECK(worst_error<T>([&](auto x) { return pow(x, -large); }, [&](L x) { return std::pow(x, -exponent); }, 0.7,
                             1.42) < 1);
        CHECK(worst_error<T>([](auto x) { return pow(1.5, x); }, [](L x) { return std::pow(1.5L, x); },
                             single ? -250 : -1800, single ? 218 : 1750) < 1);
        CHECK(worst_error<T>([](auto x) { return pow(x, 0.0625); }, [](L x) { return std::pow(x, 0.0625L); }, tiny,
                             huge, true) < 1);
    }
}

TEMPLATE_TEST_CASE("zeros, infinities and NaN are exact", "", float, double) {
    using T = TestType;
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T least = std::numeric_limits<T>::denorm_min(), most = std::numeric_limits<T>::max();
    const auto same = [](T a, T b) {
        return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
    };
    const auto check = [&](auto f, std::initializer_list<std::pair<T, T>> expected) {
        for (const auto& [x, y] : expected) {
            CAPTURE(x, y);
            CHECK(same(value_of(f, x), y));
        }
    };
    check([](auto x) { return exp(x); }, {{0, 1},
                                          {T(-0.0), 1},
                                          {-inf, 0},
                                          {inf, inf},
                                          {nan, nan},
                                          {T(1000), inf},
                                          {T(-1000), 0},
                                          {most, inf},
                                          {-most, 0},
                                          {least, 1}});
    check([](auto x) { return expm1(x); }, {{0, 0},
                                            {T(-0.0), T(-0.0)},
                                            {-inf, -1},
                                            {inf, inf},
                                            {nan, nan},
                                            {T(1000), inf},
                                            {T(-1000), -1},
                                            {most, inf},
                                            {least, least}});
    check([](auto x) { return log(x); },
          {{0, -inf}, {T(-0.0), -inf}, {1, 0}, {-1, nan}, {-inf, nan}, {inf, inf}, {nan, nan}, {-least, nan}});
    check([](auto x) { return log1p(x); },
          {{0, 0}, {T(-0.0), T(-0.0)}, {-1, -inf}, {-2, nan}, {-inf, nan}, {inf, inf}, {nan, nan}, {least, least}});
    check([](auto x) { return tanh(x); }, {{0, 0},
                                           {T(-0.0), T(-0.0)},
                                           {inf, 1},
                                           {-inf, -1},
                                           {nan, nan},
                                           {50, 1},
                                           {-50, -1},
                                           {most, 1},
                                           {least, least},
                                           {-least, -least}});
    check([](auto x) { return sin(x); },
          {{0, 0}, {T(-0.0), T(-0.0)}, {inf, nan}, {-inf, nan}, {nan, nan}, {least, least}});
    check([](auto x) { return cos(x); }, {{0, 1}, {T(-0.0), 1}, {inf, nan}, {nan, nan}, {least, 1}});
    check([](auto x) { return tan(x); }, {{0, 0}, {T(-0.0), T(-0.0)}, {inf, nan}, {nan, nan}, {-least, -least}});
    check([](auto x) { return sqrt(x); }, {{0, 0}, {T(-0.0), T(-0.0)}, {inf, inf}, {-1, nan}, {nan, nan}});
    check([](auto x) { return rsqrt(x); }, {{0, inf}, {inf, 0}, {4, T(0.5)}, {-1, nan}, {nan, nan}});
}

TEST_CASE("the largest and smallest exponentials") {
    CHECK(value_of([](auto x) { return exp(x); }, 88.72283f) == Approx(std::exp(88.72283f)).epsilon(1e-6));
    CHECK(std::isinf(value_of([](auto x) { return exp(x); }, 88.7229f)));
    CHECK(value_of([](auto x) { return exp(x); }, -103.5f) == std::numeric_limits<float>::denorm_min());
    CHECK(std::isinf(value_of([](auto x) { return exp(x); }, 709.79)));
    CHECK(std::isfinite(value_of([](auto x) { return exp(x); }, 709.78)));
    CHECK(std::isfinite(value_of([](auto x) { return expm1(x); }, 709.78)));
    CHECK(value_of([](auto x) { return exp(x); }, -745.0) == std::numeric_limits<double>::denorm_min());
}

TEMPLATE_TEST_CASE("powers obey the C standard at the edges", "", float, double) {
    using T = TestType;
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T numbers[] = {0,  T(-0.0), 1,       -1,  2,    -2,  T(0.5), T(-0.5), 3,
                         -3, T(2.5),  T(-2.5), inf, -inf, nan, T(1e9), T(-1e9)};
    constexpr int N = lanes_for<T>;
    for (T x : numbers) {
        for (T y : numbers) {
            T z[N];
            pow(pack<T, N>(x), pack<T, N>(y)).store(z);
            const T expected = std::pow(x, y);
            CAPTURE(x, y, z[0], expected);
            if (std::isnan(expected))
                CHECK(std::isnan(z[0]));
            else if (std::isfinite(expected) && expected != 0)
                CHECK(std::fabs(z[0] / expected - 1) < T(1e-6));
            else
                CHECK((z[0] == expected && std::signbit(z[0]) == std::signbit(expected)));
        }
    }
}

} // namespace test_device_cpu_pack_math
