// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Mixes 64 bits (the finaliser of SplitMix64). Op seeds depend on the result, so it is the same on every platform.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

constexpr std::uint64_t hash_combine(std::uint64_t seed, std::uint64_t value) { return mix(seed ^ mix(value)); }

constexpr std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0) {
    std::uint64_t h = 0xcbf29ce484222325u ^ seed; // FNV-1a, then mixed
    for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return mix(h);
}

}}} // namespace rill::RILL_ABI::detail
