// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/hash_index.hpp>

#include "catch.hpp"

using rill::detail::hash_index;

TEST_CASE("hash_index: finds what was added, by hash and then by what matches") {
    hash_index index;
    const auto is = [](std::uint32_t wanted) { return [=](std::uint32_t n) { return n == wanted; }; };
    CHECK(index.find(1, is(1)) == hash_index::none);
    for (std::uint32_t i = 0; i < 1000; ++i) index.add(i / 4 * 0x9e3779b97f4a7c15u, i); // four of each hash
    for (std::uint32_t i = 0; i < 1000; ++i) {
        CHECK(index.find(i / 4 * 0x9e3779b97f4a7c15u, is(i)) == i);
        CHECK(index.find(i / 4 * 0x9e3779b97f4a7c15u, is(i + 4)) == hash_index::none);
    }
}

TEST_CASE("hash_index: equal hashes are tried in the order they were added") {
    hash_index index;
    index.reserve(100);
    for (const std::uint32_t n : {7u, 3u, 5u}) index.add(42, n);
    CHECK(index.find(42, [](std::uint32_t) { return true; }) == 7);
    CHECK(index.find(42, [](std::uint32_t n) { return n < 6; }) == 3);
    CHECK(index.find(43, [](std::uint32_t) { return true; }) == hash_index::none);
}
