// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/crc32c.hpp>

#include <string>

#include "catch.hpp"

using namespace rill;

TEST_CASE("crc32c: the values of RFC 3720") {
    CHECK(detail::crc32c("") == 0);
    CHECK(detail::crc32c("123456789") == 0xe3069283u);
    CHECK(detail::crc32c(std::string(32, '\0')) == 0x8a9136aau);
    CHECK(detail::crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
    std::string up, down;
    for (int i = 0; i < 32; ++i) up += static_cast<char>(i), down += static_cast<char>(31 - i);
    CHECK(detail::crc32c(up) == 0x46dd794eu);
    CHECK(detail::crc32c(down) == 0x113fdb5cu);
}

TEST_CASE("crc32c: in parts it is the same, and every bit counts") {
    std::string text;
    for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
    const auto whole = detail::crc32c(text);
    for (std::size_t cut = 0; cut <= text.size(); ++cut)
        CHECK(detail::crc32c(std::string_view(text).substr(cut),
                             detail::crc32c(std::string_view(text).substr(0, cut))) == whole);
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        std::string other = text;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
        CHECK(detail::crc32c(other) != whole);
    }
}

TEST_CASE("crc32c: the instruction of the processor gives what the tables give, at all lengths and alignments") {
    std::string text;
    std::uint32_t state = 1;
    for (int i = 0; i < 40'000; ++i) text += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    const std::string_view all(text);
    for (std::size_t size = 0; size < 100; ++size)
        for (std::size_t from = 0; from < 8; ++from)
            CHECK(detail::crc32c(all.substr(from, size), 7) == detail::crc32c_by_tables(all.substr(from, size), 7));
    for (const std::size_t size : {6143, 6144, 6145, 6151, 6152, 12288, 12297, 39'000})
        for (std::size_t from = 0; from < 8; ++from)
            CHECK(detail::crc32c(all.substr(from, size), 99) == detail::crc32c_by_tables(all.substr(from, size), 99));
}
