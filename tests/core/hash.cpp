// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/hash.hpp>

#include <set>

#include "catch.hpp"

using namespace rill;

TEST_CASE("hash: the values are fixed, since seeds of random ops come from them") {
    // SplitMix64 seeded with 0: its published first values
    STATIC_REQUIRE(detail::mix(0) == 0xe220a8397b1dcdafu);
    STATIC_REQUIRE(detail::mix(0x9e3779b97f4a7c15u) == 0x6e789e6aa1b965f4u);
    // FNV-1a's published values, then mixed
    STATIC_REQUIRE(detail::hash_bytes("") == detail::mix(0xcbf29ce484222325u));
    STATIC_REQUIRE(detail::hash_bytes("a") == detail::mix(0xaf63dc4c8601ec8cu));
    STATIC_REQUIRE(detail::hash_bytes("foobar") == detail::mix(0x85944171f73967e8u));
    STATIC_REQUIRE(detail::hash_bytes("\xff") != detail::hash_bytes("\x7f")); // char may be signed
}

TEST_CASE("hash: order and seed count, and neighbours do not collide") {
    CHECK(detail::hash_combine(1, 2) != detail::hash_combine(2, 1));
    CHECK(detail::hash_bytes("x", 1) != detail::hash_bytes("x", 2));
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 300; ++i)
        for (std::uint64_t j = 0; j < 300; ++j) seen.insert(detail::hash_combine(i, j));
    CHECK(seen.size() == 300 * 300);
}
