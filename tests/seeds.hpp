// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "catch.hpp"

// Random tests. What a test draws follows from one seed, and a failure prints it: RILL_SEED=17 runs that seed alone. RILL_SEEDS=100000
// runs as many seeds, RILL_SOAK_SECONDS=60 new seeds until the time is up (make soak). Tests that use each() have the tag [random].

namespace seeds {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Returns true unless one seed alone is run: what is counted over all seeds can be checked.
inline bool all() { return std::getenv("RILL_SEED") == nullptr; }

/// Calls run(seed) for `usual` seeds from 1 on, or as the environment says.
template <class F> void each(std::uint64_t usual, const F& run) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::seconds(from_environment("RILL_SOAK_SECONDS", 0));
    const std::uint64_t first = from_environment("RILL_SEED", from_environment("RILL_FIRST_SEED", 1));
    const std::uint64_t count = all() ? from_environment("RILL_SEEDS", usual) : 1;
    for (std::uint64_t i = 0; i < count || (all() && clock::now() < end); ++i) {
        INFO("RILL_SEED=" << first + i);
        run(first + i);
    }
}

/// Numbers drawn from a seed (SplitMix64).
class draws {
public:
    explicit draws(std::uint64_t seed) : state_(seed) {}
    /// Returns one of 0 … n-1.
    std::size_t operator()(std::size_t n) {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<std::size_t>((z ^ (z >> 31)) % n);
    }

private:
    std::uint64_t state_;
};

} // namespace seeds
