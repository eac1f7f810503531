// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/fusion/repeat.hpp>

#include <string>

#include "catch.hpp"

using namespace rill;

TEST_CASE("repeat: the first bytes fill the rest, whole and in part, and nothing behind it") {
    for (const std::size_t have : {1u, 3u, 8u})
        for (const std::size_t all : {8u, 9u, 30u, 64u, 1000u}) {
            std::string text(all + 5, '.');
            for (std::size_t i = 0; i < have; ++i) text[i] = static_cast<char>('a' + i);
            detail::repeat(text.data(), have, all);
            for (std::size_t i = 0; i < all; ++i) REQUIRE(text[i] == static_cast<char>('a' + i % have));
            REQUIRE(text.substr(all) == ".....");
        }
    std::string none = "x";
    detail::repeat(none.data(), 1, 1);
    CHECK(none == "x");
}
