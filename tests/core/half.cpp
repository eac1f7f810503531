// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/half.hpp>

#include <limits>

#include "catch.hpp"

using namespace rill;

namespace test_half {

template <class H> H from_bits(unsigned bits) {
    H h;
    h.bits = static_cast<std::uint16_t>(bits);
    return h;
}

/// The value by the definition of the format: `Fraction` bits of fraction, the rest exponent.
template <int Fraction> double reference(unsigned bits) {
    constexpr int exponent_bits = 15 - Fraction, bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(bits >> Fraction) & ((1 << exponent_bits) - 1);
    const double fraction = static_cast<double>(bits & ((1u << Fraction) - 1)) / (1 << Fraction);
    const double sign = bits & 0x8000u ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
    return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
}

/// Every bit pattern has the value of its format, and comes back from float as it was.
template <class H, int Fraction> void all_patterns() {
    int wrong_value = 0, wrong_way_back = 0;
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const float value = from_bits<H>(bits);
        const double expected = reference<Fraction>(bits);
        const H back(value);
        if (std::isnan(expected)) {
            wrong_value += !std::isnan(value);
            wrong_way_back +=
                !std::isnan(static_cast<float>(back)) || std::signbit(static_cast<float>(back)) != std::signbit(value);
        } else {
            wrong_value += static_cast<double>(value) != expected || std::signbit(value) != std::signbit(expected);
            wrong_way_back += back.bits != bits;
        }
    }
    CHECK(wrong_value == 0);
    CHECK(wrong_way_back == 0);
}

/// Between two neighbours: what is nearer wins, halfway the even one; `infinity` is the pattern above the largest number.
template <class H, int Fraction> void rounding(unsigned infinity) {
    int wrong = 0;
    for (unsigned bits = 0; bits < infinity; ++bits)
        for (const unsigned sign : {0u, 0x8000u}) {
            const double below = reference<Fraction>(bits);
            // above the largest number the format goes on as if the exponent had one more value
            const double above =
                bits + 1 < infinity ? reference<Fraction>(bits + 1) : below + (below - reference<Fraction>(bits - 1));
            const float middle = static_cast<float>((below + above) / 2) * (sign ? -1.f : 1.f);
            const float away = sign ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
            wrong += H(middle).bits != (sign | (bits % 2 ? bits + 1 : bits));
            wrong += H(std::nextafter(middle, 0.f)).bits != (sign | bits);
            wrong += H(std::nextafter(middle, away)).bits != (sign | (bits + 1));
        }
    CHECK(wrong == 0);
}

} // namespace test_half

TEST_CASE("half: all 65536 patterns") { test_half::all_patterns<half, 10>(); }
TEST_CASE("bfloat16: all 65536 patterns") { test_half::all_patterns<bfloat16, 7>(); }

TEST_CASE("half: rounds to nearest even, subnormals included") { test_half::rounding<half, 10>(0x7c00u); }
TEST_CASE("bfloat16: rounds to nearest even, subnormals included") { test_half::rounding<bfloat16, 7>(0x7f80u); }

TEST_CASE("half, bfloat16: the ends of the range") {
    STATIC_REQUIRE(half(65504.f).bits == 0x7bff);
    STATIC_REQUIRE(half(65519.996f).bits == 0x7bff);
    STATIC_REQUIRE(half(65520.f).bits == 0x7c00);
    STATIC_REQUIRE(half(-std::numeric_limits<float>::infinity()).bits == 0xfc00);
    STATIC_REQUIRE(half(0x1p-24f).bits == 1);
    STATIC_REQUIRE(half(0x1p-25f).bits == 0);
    STATIC_REQUIRE(half(-0.f).bits == 0x8000);
    STATIC_REQUIRE(half(0x1.ff8p-15f).bits == 0x3ff); // the largest subnormal
    STATIC_REQUIRE(bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
    // a NaN whose payload is cut off stays a NaN
    CHECK(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0x7f800001u)))));
    CHECK(std::isnan(static_cast<float>(half(std::bit_cast<float>(0xff800001u)))));
}

TEST_CASE("quantised integers compare, and do not convert") {
    STATIC_REQUIRE(qint8{-3} == qint8{-3});
    STATIC_REQUIRE_FALSE(quint8{200} == quint8{201});
    STATIC_REQUIRE_FALSE(std::is_convertible_v<qint32, std::int32_t>);
    STATIC_REQUIRE_FALSE(std::is_convertible_v<std::int32_t, qint32>);
}
