// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/cpu/jit/code_cache.hpp>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace rill;

TEST_CASE("code_cache: code is made once for a key, and so is the lack of it") {
    int made = 0;
    const auto make = [&](std::vector<std::uint8_t> bytes) {
        return [&made, bytes = std::move(bytes)] {
            ++made;
            return bytes;
        };
    };
    const void* const first = detail::cached_code("test of the cache: 1", make({0xc3}));
    CHECK(detail::cached_code("test of the cache: 1", make({0xc3})) == first);
    CHECK(made == 1);
    CHECK(detail::cached_code("test of the cache: none", make({})) == nullptr);
    CHECK(detail::cached_code("test of the cache: none", make({0xc3})) == nullptr);
    CHECK(made == 2);
    if (first) CHECK(detail::cached_code("test of the cache: 2", make({0xc3})) != first);
}

TEST_CASE("code_cache: a failure is not kept") {
    const auto fails = []() -> std::vector<std::uint8_t> { throw std::runtime_error("no code"); };
    CHECK_THROWS_AS(detail::cached_code("test of the cache: fails", fails), std::runtime_error);
    int made = 0;
    detail::cached_code("test of the cache: fails", [&] {
        ++made;
        return std::vector<std::uint8_t>{0xc3};
    });
    CHECK(made == 1);
}
