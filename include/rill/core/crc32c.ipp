// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/crc32c.hpp>

#include <array>
#include <cstddef>
#include <cstring>

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

RILL_INLINE std::uint32_t crc32c_by_tables(std::string_view bytes, std::uint32_t before) {
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

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)

/// The effect of a fixed number of zero bytes on a checksum. It is linear, so that four tables hold it.
struct crc32c_shift {
    std::array<std::array<std::uint32_t, 256>, 4> table{};

    explicit crc32c_shift(std::size_t zeros) {
        for (std::size_t byte = 0; byte < 4; ++byte) {
            for (std::size_t bit = 0; bit < 8; ++bit) {
                std::uint32_t v = 1u << (8 * byte + bit);
                for (std::size_t k = 0; k < zeros; ++k) v = v >> 8 ^ crc32c_table[0][v & 255];
                table[byte][std::size_t(1) << bit] = v;
            }
            for (std::size_t value = 1; value < 256; ++value) {
                const std::size_t lowest = value & (~value + 1);
                table[byte][value] = table[byte][value ^ lowest] ^ table[byte][lowest];
            }
        }
    }
    std::uint32_t operator()(std::uint32_t v) const {
        return table[0][v & 255] ^ table[1][v >> 8 & 255] ^ table[2][v >> 16 & 255] ^ table[3][v >> 24];
    }
};

/// Computes the checksum by the instruction of SSE 4.2. An instruction takes three cycles, and one can begin in each: three blocks are
/// computed side by side, and joined.
[[gnu::target("sse4.2")]] inline std::uint32_t crc32c_by_instruction(std::string_view bytes, std::uint32_t before) {
    constexpr std::size_t block = 2048;
    static const crc32c_shift past_one(block), past_two(2 * block);
    const auto eight_at = [](const char* at) {
        std::uint64_t eight;
        std::memcpy(&eight, at, 8);
        return eight;
    };
    std::uint64_t v = static_cast<std::uint32_t>(~before);
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 3 * block; at += 3 * block, left -= 3 * block) {
        std::uint64_t second = 0, third = 0;
        for (std::size_t k = 0; k < block; k += 8) {
            v = __builtin_ia32_crc32di(v, eight_at(at + k));
            second = __builtin_ia32_crc32di(second, eight_at(at + block + k));
            third = __builtin_ia32_crc32di(third, eight_at(at + 2 * block + k));
        }
        v = past_two(static_cast<std::uint32_t>(v)) ^ past_one(static_cast<std::uint32_t>(second)) ^ third;
    }
    for (; left >= 8; at += 8, left -= 8) v = __builtin_ia32_crc32di(v, eight_at(at));
    auto rest = static_cast<std::uint32_t>(v);
    for (; left > 0; ++at, --left) rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(*at));
    return ~rest;
}

RILL_INLINE std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    return has_instruction ? crc32c_by_instruction(bytes, before) : crc32c_by_tables(bytes, before);
}

#else

RILL_INLINE std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
    return crc32c_by_tables(bytes, before);
}

#endif

}}} // namespace rill::RILL_ABI::detail
