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
