// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The tables of slicing-by-8: the contribution of each byte value at each of eight positions.
inline constexpr auto crc32c_table = [] {
    std::array<std::array<std::uint32_t, 256>, 8> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t v = byte;
        for (int bit = 0; bit < 8; ++bit) v = v >> 1 ^ (v & 1 ? 0x82f63b78u : 0);
        table[0][byte] = v;
    }
    for (std::size_t place = 1; place < 8; ++place)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = table[place - 1][byte];
            table[place][byte] = before >> 8 ^ table[0][before & 255];
        }
    return table;
}();

/// Computes the CRC-32C checksum of files and messages (Castagnoli's polynomial, as in iSCSI and ext4), continuing from
/// `before`.
inline std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) {
    const auto& t = crc32c_table;
    std::uint32_t v = ~before;
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
        std::uint64_t eight;
        std::memcpy(&eight, at, 8);
        eight ^= v;
        v = t[7][eight & 255] ^ t[6][eight >> 8 & 255] ^ t[5][eight >> 16 & 255] ^ t[4][eight >> 24 & 255] ^
            t[3][eight >> 32 & 255] ^ t[2][eight >> 40 & 255] ^ t[1][eight >> 48 & 255] ^ t[0][eight >> 56];
    }
    for (; left > 0; ++at, --left) v = v >> 8 ^ t[0][(v ^ static_cast<unsigned char>(*at)) & 255];
    return ~v;
}

}}} // namespace rill::RILL_ABI::detail
