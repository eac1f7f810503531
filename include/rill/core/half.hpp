// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// 16-bit brain float: the upper half of a float. Conversion rounds to nearest even; arithmetic goes through float.
struct bfloat16 {
    std::uint16_t bits = 0;

    constexpr bfloat16() = default;
    constexpr bfloat16(float value) {
        const auto raw = std::bit_cast<std::uint32_t>(value);
        const bool nan = (raw & 0x7fffffffu) > 0x7f800000u;
        // a NaN whose payload sits in the lower bits would round to infinity: set the quiet bit instead
        bits = nan ? static_cast<std::uint16_t>((raw >> 16) | 0x40u)
                   : static_cast<std::uint16_t>((raw + 0x7fffu + ((raw >> 16) & 1u)) >> 16);
    }
    constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

/// IEEE 754 binary16. Conversion rounds to nearest even, with subnormals; arithmetic goes through float.
struct half {
    std::uint16_t bits = 0;

    constexpr half() = default;
    constexpr half(float value) {
        const auto raw = std::bit_cast<std::uint32_t>(value);
        const auto sign = static_cast<std::uint16_t>((raw >> 16) & 0x8000u);
        const std::uint32_t magnitude = raw & 0x7fffffffu;
        if (magnitude > 0x7f800000u) {
            bits = static_cast<std::uint16_t>(sign | 0x7e00u);
        } else if (magnitude >= 0x477ff000u) { // 65520 and above round to infinity
            bits = static_cast<std::uint16_t>(sign | 0x7c00u);
        } else if (magnitude >= 0x38800000u) { // normal
            const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u);
            bits = static_cast<std::uint16_t>(sign | (rounded >> 13));
        } else { // subnormal: a multiple of 2^-24, rounded by adding and removing 0.5 (whose unit is 2^-24)
            const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
            bits = static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - 0x3f000000u));
        }
    }
    constexpr operator float() const {
        const std::uint32_t sign = (static_cast<std::uint32_t>(bits) & 0x8000u) << 16;
        const std::uint32_t exponent = (bits >> 10) & 0x1fu, fraction = bits & 0x3ffu;
        if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
        if (exponent == 0) {
            const float value = static_cast<float>(fraction) * 0x1p-24f;
            return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
        }
        return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    }
};

/// Quantised integers: distinct storage types that do not mix with plain integers.
struct qint8 {
    std::int8_t value = 0;
    friend constexpr bool operator==(qint8, qint8) = default;
};
struct quint8 {
    std::uint8_t value = 0;
    friend constexpr bool operator==(quint8, quint8) = default;
};
struct qint32 {
    std::int32_t value = 0;
    friend constexpr bool operator==(qint32, qint32) = default;
};

}} // namespace rill::RILL_ABI
