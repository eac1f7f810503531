// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The stateless random generator Philox4x32-10 (Salmon et al. 2011): 128 bits from a counter and a key, equal on every device.
struct philox {
    using block = std::array<std::uint32_t, 4>;
    using key = std::array<std::uint32_t, 2>;

    RILL_FN static constexpr block generate(block c, key k) {
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t a = std::uint64_t(0xD2511F53u) * c[0], b = std::uint64_t(0xCD9E8D57u) * c[2];
            c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
                 static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
            k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
        }
        return c;
    }
};

/// The random bits of one run of an op. A block depends only on the seed, the run number and its position in the stream.
/// Elements can therefore be drawn in any order, by any number of threads, on any device.
struct random_stream {
    std::uint64_t seed = 0, run = 0;

    /// Returns block i. Rejection sampling draws further blocks for the same position with `attempt` > 0.
    RILL_FN constexpr philox::block block(std::uint64_t i, std::uint32_t attempt = 0) const {
        return philox::generate({low(i), high(i) ^ (attempt << 24), low(run), high(run)}, {low(seed), high(seed)});
    }

    RILL_FN static constexpr std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
    RILL_FN static constexpr std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }
};

}} // namespace rill::RILL_ABI
