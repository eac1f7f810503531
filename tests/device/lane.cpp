// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/lane.hpp>

#include <rill/ops/math/abs.hpp>
#include <rill/ops/math/ceil.hpp>
#include <rill/ops/math/conj.hpp>
#include <rill/ops/math/cos.hpp>
#include <rill/ops/math/exp.hpp>
#include <rill/ops/math/expm1.hpp>
#include <rill/ops/math/floor.hpp>
#include <rill/ops/math/log.hpp>
#include <rill/ops/math/log1p.hpp>
#include <rill/ops/math/pow.hpp>
#include <rill/ops/math/rsqrt.hpp>
#include <rill/ops/math/sign.hpp>
#include <rill/ops/math/sin.hpp>
#include <rill/ops/math/sqrt.hpp>
#include <rill/ops/math/tan.hpp>
#include <rill/ops/math/tanh.hpp>

#include <limits>
#include <string>
#include <utility>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_lane {

template <class T> using limits = std::numeric_limits<T>;
constexpr float nan_f = limits<float>::quiet_NaN(), inf_f = limits<float>::infinity();

// ---- what holds at compile time ------------------------------------------------------------------------------------------

static_assert((2 * lane<int>(3) + 1).v == 7);
static_assert((lane<std::int8_t>(127) + 1).v == -128);
static_assert((lane<std::int16_t>(-32768) - 1).v == 32767);
static_assert((lane<std::uint16_t>(65535) * lane<std::uint16_t>(65535)).v == 1, "promotion to int would overflow");
static_assert((lane<std::int32_t>(limits<int>::max()) * 2).v == -2);
static_assert((lane<std::int64_t>(limits<std::int64_t>::max()) + 1).v == limits<std::int64_t>::min());
static_assert((-lane<std::int8_t>(-128)).v == -128);
static_assert((lane<std::int32_t>(limits<int>::min()) / -1).v == limits<int>::min());
static_assert((lane<int>(-7) / 2).v == -3 && (lane<int>(-7) % 2).v == -1);
static_assert((lane<std::int32_t>(limits<int>::min()) % -1).v == 0);
static_assert(abs(lane<std::int8_t>(-128)).v == -128 && abs(lane<int>(-3)).v == 3 && abs(lane<unsigned>(3u)).v == 3u);
static_assert(sign(lane<int>(-3)).v == -1 && sign(lane<unsigned>(9u)).v == 1 && sign(lane<int>(0)).v == 0);
static_assert((lane<float>(1) < 2).v && (lane<float>(2) >= 2.0).v && !(lane<float>(1) != 1).v);
static_assert((lane<bool>(true) && !lane<bool>(false)).v && (lane<bool>(false) || true).v);
static_assert(select(lane<bool>(true), lane<int>(1), 2).v == 1);
static_assert(max(lane<int>(1), 2).v == 2 && min(lane<int>(1), 2).v == 1 && max(lane<float>(1), 2.5).v == 2.5f);
static_assert(fma(lane<float>(2), 3, 4).v == 10);
static_assert(std::is_same_v<real_type<std::complex<float>>, float> && std::is_same_v<compute_type<half>, float>);

static_assert(cast_to<int>(lane<float>(-1.9f)).v == -1 && cast_to<int>(lane<float>(1e20f)).v == limits<int>::max());
static_assert(cast_to<int>(lane<float>(-inf_f)).v == limits<int>::min() && cast_to<int>(lane<float>(nan_f)).v == 0);
static_assert(cast_to<std::uint8_t>(lane<double>(-0.5)).v == 0 && cast_to<std::uint8_t>(lane<double>(255.9)).v == 255);
static_assert(cast_to<std::uint8_t>(lane<double>(256)).v == 255 && cast_to<std::uint8_t>(lane<float>(-7)).v == 0);
static_assert(cast_to<std::int64_t>(lane<double>(9.3e18)).v == limits<std::int64_t>::max());
static_assert(cast_to<std::uint64_t>(lane<double>(1.8e19)).v == 18000000000000000000u);
static_assert(cast_to<std::int8_t>(lane<int>(300)).v == 44 && cast_to<bool>(lane<float>(0.5f)).v);
static_assert(cast_to<bool>(lane<float>(nan_f)).v && cast_to<float>(lane<bool>(true)).v == 1);
static_assert(cast_to<half>(lane<double>(1.5)).v == 1.5f && cast_to<int>(lane<half>(half(-2.5f))).v == -2);
static_assert(cast_to<std::complex<double>>(lane<int>(3)).v == std::complex<double>(3, 0));
static_assert(cast_to<float>(lane<std::complex<double>>(std::complex<double>(3, 4))).v == 3);

template <class T>
concept has_less = requires(lane<T> a) { a < a; };
template <class T>
concept has_minus = requires(lane<T> a) { a - a; };
static_assert(has_less<float> && has_less<std::string> && !has_less<std::complex<float>>);
static_assert(has_minus<half> && !has_minus<bool> && !has_minus<std::string>);

unsigned take_errors() { return std::exchange(detail::sticky_errors(), 0u); }

TEST_CASE("integer division by zero gives zero and leaves a mark") {
    take_errors();
    CHECK((lane<int>(7) / 0).v == 0);
    CHECK(take_errors() == detail::integer_division_by_zero);
    CHECK((lane<std::uint8_t>(std::uint8_t(7)) % 0).v == 0);
    CHECK(take_errors() == detail::integer_division_by_zero);
    CHECK((lane<std::int64_t>(6) / 3).v == 2);
    CHECK((lane<float>(1) / 0).v == inf_f);
    CHECK(take_errors() == 0);
}

TEST_CASE("max, min and sign keep NaN and the first of equals") {
    CHECK(std::isnan(max(lane<float>(nan_f), 1).v));
    CHECK(std::isnan(max(lane<float>(1), nan_f).v));
    CHECK(std::isnan(min(lane<double>(1), limits<double>::quiet_NaN()).v));
    CHECK(std::isnan(sign(lane<float>(nan_f)).v));
    CHECK(std::signbit(max(lane<float>(-0.0f), 0.0f).v));
    CHECK_FALSE(std::signbit(max(lane<float>(0.0f), -0.0f).v));
    CHECK(sign(lane<float>(-0.0f)).v == 0);
    CHECK(sign(lane<half>(half(-3.0f))).v == -1.0f);
    CHECK_FALSE((lane<float>(nan_f) == nan_f).v);
    CHECK((lane<float>(nan_f) != nan_f).v);
}

TEST_CASE("integer powers wrap and truncate") {
    CHECK(pow(lane<int>(-3), 3).v == -27);
    CHECK(pow(lane<std::uint8_t>(std::uint8_t(2)), 8).v == 0);
    CHECK(pow(lane<int>(5), 0).v == 1);
    CHECK(pow(lane<int>(2), -1).v == 0);
    CHECK(pow(lane<int>(-1), -3).v == -1);
    CHECK(pow(lane<int>(-1), -4).v == 1);
    CHECK(take_errors() == 0);
    CHECK(pow(lane<int>(0), -1).v == 0);
    CHECK(take_errors() == detail::integer_division_by_zero);
    CHECK(pow(lane<double>(2), 0.5).v == std::sqrt(2.0));
}

TEMPLATE_TEST_CASE("mathematical functions are those of the standard library", "", float, double) {
    volatile TestType hidden = TestType(0.7); // a compiler's own tanh may round otherwise than the library's
    const TestType x = hidden;
    const lane<TestType> l(x);
    CHECK(exp(l).v == std::exp(x));
    CHECK(expm1(l).v == std::expm1(x));
    CHECK(log(l).v == std::log(x));
    CHECK(log1p(l).v == std::log1p(x));
    CHECK(sqrt(l).v == std::sqrt(x));
    CHECK(rsqrt(l).v == 1 / std::sqrt(x));
    CHECK(sin(l).v == std::sin(x));
    CHECK(cos(l).v == std::cos(x));
    CHECK(tan(l).v == std::tan(x));
    CHECK(tanh(l).v == std::tanh(x));
    CHECK(floor(-l).v == -1);
    CHECK(ceil(l).v == 1);
    CHECK(abs(-l).v == x);
    CHECK(conj(l).v == x);
    CHECK(exp(lane<TestType>(-limits<TestType>::infinity())).v == 0);
    CHECK(std::isnan(log(lane<TestType>(-1)).v));
}

TEMPLATE_TEST_CASE("half types compute in float and round once", "", half, bfloat16) {
    const lane<TestType> a(TestType(1.5f)), b(TestType(0.25f));
    CHECK(static_cast<float>((a + b).v) == 1.75f);
    CHECK(static_cast<float>((a * b - 1).v) == -0.625f);
    CHECK((a > b).v);
    CHECK(static_cast<float>(exp(b).v) == static_cast<float>(TestType(std::exp(0.25f))));
    CHECK(static_cast<float>(max(a, b).v) == 1.5f);
    CHECK(static_cast<float>(abs(-a).v) == 1.5f);
}

TEMPLATE_TEST_CASE("complex numbers", "", float, double) {
    using C = std::complex<TestType>;
    const C x(TestType(0.5), TestType(-1.25)), y(2, TestType(0.75));
    const lane<C> a(x), b(y);
    const auto close = [](C p, C q) { return std::abs(p - q) <= 8 * limits<TestType>::epsilon() * std::abs(q); };
    CHECK((a + b).v == x + y);
    CHECK((a - b).v == x - y);
    CHECK(close((a * b).v, x * y));
    CHECK(close((a / b).v, x / y));
    CHECK((-a).v == -x);
    CHECK((2 * a).v == x * TestType(2));
    CHECK(conj(a).v == std::conj(x));
    CHECK(exp(a).v == std::exp(x));
    CHECK(log(a).v == std::log(x));
    CHECK(sqrt(a).v == std::sqrt(x));
    CHECK(sin(a).v == std::sin(x));
    CHECK(cos(a).v == std::cos(x));
    CHECK(tanh(a).v == std::tanh(x));
    CHECK(pow(a, b).v == std::pow(x, y));
    CHECK((a == a).v);
    CHECK((a != b).v);
}

TEST_CASE("strings compare, join and are selected") {
    const lane<std::string> a(std::string("ab")), b(std::string("c"));
    CHECK((a + b).v == "abc");
    CHECK((a == a).v);
    CHECK((a != b).v);
    CHECK(select(a == b, a, b).v == "c");
}

} // namespace test_device_lane
