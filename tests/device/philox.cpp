// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/philox.hpp>

#include <set>

#include "catch.hpp"

using namespace rill;

namespace test_device_philox {

// the published known answers of Random123 (kat_vectors, philox4x32, 10 rounds)
static_assert(philox::generate({0, 0, 0, 0}, {0, 0}) == philox::block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox::generate({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
              philox::block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox::generate({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              philox::block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

static_assert(random_stream{0x299f31d0a4093822, 0x0370734413198a2e}.block(0x85a308d3243f6a88) ==
              philox::block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

TEST_CASE("philox: known answers at run time") {
    philox::block counter{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
    philox::key key{0xa4093822, 0x299f31d0};
    CHECK(philox::generate(counter, key) == philox::block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("philox: blocks of a stream differ by seed, run, place and attempt") {
    std::set<philox::block> seen;
    for (std::uint64_t seed : {0u, 1u})
        for (std::uint64_t run : {0u, 1u})
            for (std::uint64_t i : {std::uint64_t(0), std::uint64_t(1), std::uint64_t(1) << 32})
                for (std::uint32_t attempt : {0u, 1u, 255u}) seen.insert(random_stream{seed, run}.block(i, attempt));
    CHECK(seen.size() == 36);
}

} // namespace test_device_philox
