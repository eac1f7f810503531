// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/numbers.hpp>

#include <string>
#include <thread>

#include <rill/core/half.hpp>

#include "catch.hpp"

using namespace rill;

namespace test_device_numbers {

using detail::convert;

template <class T> using limits = std::numeric_limits<T>;

static_assert(std::is_same_v<compute_type<half>, float> && std::is_same_v<compute_type<std::int8_t>, std::int8_t>);
static_assert(std::is_same_v<real_type<std::complex<double>>, double> && std::is_same_v<real_type<float>, float>);
static_assert(detail::integer_lane<std::uint8_t> && !detail::integer_lane<bool> && !detail::integer_lane<float>);
static_assert(detail::real_lane<bfloat16> && !detail::real_lane<std::complex<float>> &&
              !detail::real_lane<std::string>);
static_assert(detail::floating_lane<std::complex<float>> && !detail::numeric_lane<bool> &&
              !detail::numeric_lane<qint8>);

static_assert(convert<int>(-1.9f) == -1 && convert<int>(1e20f) == limits<int>::max());
static_assert(convert<int>(-limits<float>::infinity()) == limits<int>::min() &&
              convert<int>(limits<float>::quiet_NaN()) == 0);
static_assert(convert<std::uint8_t>(-0.5) == 0 && convert<std::uint8_t>(255.9) == 255 &&
              convert<std::uint8_t>(256.0) == 255);
static_assert(convert<std::int64_t>(9.3e18) == limits<std::int64_t>::max());
static_assert(convert<std::uint64_t>(1.8e19) == 18000000000000000000u);
static_assert(convert<std::int32_t>(2147483520.0f) == 2147483520 && convert<std::int32_t>(2147483648.0f) == 2147483647);
static_assert(convert<std::int8_t>(300) == 44 && convert<bool>(0.5f) && convert<bool>(limits<float>::quiet_NaN()));
static_assert(convert<half>(1.5) == 1.5f && convert<int>(half(-2.5f)) == -2 && convert<bfloat16>(half(3.0f)) == 3.0f);
static_assert(convert<std::complex<double>>(3) == std::complex<double>(3, 0));
static_assert(convert<float>(std::complex<double>(3, 4)) == 3 && convert<bool>(std::complex<float>(0, 1)));

TEST_CASE("errors stay on their thread until they are read") {
    detail::sticky_errors() = 0;
    unsigned elsewhere = 1;
    std::thread([&] {
        detail::sticky_errors() |= detail::integer_division_by_zero;
        elsewhere = detail::sticky_errors();
    }).join();
    CHECK(elsewhere == detail::integer_division_by_zero);
    CHECK(detail::sticky_errors() == 0);
}

TEST_CASE("a product and a sum") {
    CHECK(detail::multiply_add(2.0f, 3.0f, 4.0f) == 10.0f);
    CHECK(detail::multiply_add(2.0, 3.0, 4.0) == 10.0);
}

} // namespace test_device_numbers
