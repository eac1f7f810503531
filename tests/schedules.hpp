// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "catch.hpp"

// Seeded schedules: who of several goes next is drawn from a seed, so that a failure is found again. RILL_SCHEDULES=100000 runs more of
// them, RILL_SCHEDULE=17 that one alone.

namespace schedules {

/// Numbers drawn from a seed (SplitMix64).
class draws {
public:
    explicit draws(std::uint64_t seed) : state_(seed) {}
    /// One of 0 … n-1.
    std::size_t operator()(std::size_t n) {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<std::size_t>((z ^ (z >> 31)) % n);
    }

private:
    std::uint64_t state_;
};

template <class F> void each(std::uint64_t usual, const F& run) {
    const char* one = std::getenv("RILL_SCHEDULE");
    const char* many = std::getenv("RILL_SCHEDULES");
    const std::uint64_t first = one ? std::strtoull(one, nullptr, 10) : 0;
    const std::uint64_t count = one ? 1 : many ? std::strtoull(many, nullptr, 10) : usual;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        INFO("RILL_SCHEDULE=" << seed);
        draws next(seed);
        run(next);
    }
}

} // namespace schedules
