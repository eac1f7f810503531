// SPDX-License-Identifier: BSD-3-Clause
#include <rill/io/png.hpp>

#include <array>

#include <rill/core/error.hpp>

#include "catch.hpp"

using namespace rill;

TEST_CASE("png: a signature, three chunks, and samples that are checked") {
    const std::vector<std::uint8_t> samples{255, 0, 0, 0, 255, 0};
    const auto png = detail::png_bytes(samples, 1, 2, 3);
    CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
    CHECK(png.substr(8, 8) == std::string("\0\0\0\x0dIHDR", 8));
    CHECK(png.substr(16, 13) == std::string("\0\0\0\2\0\0\0\1\x08\x02\0\0\0", 13));
    CHECK(png.substr(png.size() - 12) ==
          std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12)); // its checksum is the same in every file
    CHECK_THROWS_AS(detail::png_bytes(samples, 2, 2, 3), invalid_argument);
    CHECK_THROWS_AS(detail::png_bytes({}, 0, 2, 3), invalid_argument);
    CHECK_THROWS_AS(detail::png_bytes(samples, 1, 1, 6), invalid_argument);
    CHECK(png_bytes(xt::xtensor<std::uint8_t, 3>{{{255, 0, 0}, {0, 255, 0}}}) == png);
    CHECK_THROWS_AS(png_bytes(xt::xtensor<std::uint8_t, 3>(std::array<std::size_t, 3>{0, 2, 1})), invalid_argument);
}
