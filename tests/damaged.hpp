// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "seeds.hpp"

// Bytes from strangers, drawn from a seed.

namespace damaged_bytes {

/// Returns random bytes, at most so many.
inline std::string random_bytes(seeds::draws& draws, std::size_t most) {
    std::string t(draws(most + 1), '\0');
    for (auto& c : t) c = static_cast<char>(draws(256));
    return t;
}

/// Changes, removes or adds some bytes.
inline std::string damaged(seeds::draws& draws, std::string t) {
    for (auto n = draws(4); n > 0; --n) {
        const auto at = draws(t.size() + 1);
        switch (draws(5)) {
        case 0: t.resize(at); break;
        case 1: t.insert(at, random_bytes(draws, 9)); break;
        case 2: t.erase(at, 1 + draws(9)); break;
        default:
            if (at < t.size()) t[at] = static_cast<char>(draws(2) ? draws(256) : 255);
        }
    }
    return t;
}

} // namespace damaged_bytes
