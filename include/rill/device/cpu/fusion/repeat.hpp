// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Repeats the first `have` bytes of `memory` up to `all` bytes, doubling the filled part each time.
/// A few long copies are fast at every optimization level; a loop of single stores is slow.
inline void repeat(void* memory, std::size_t have, std::size_t all) {
    auto* const first = static_cast<std::byte*>(memory);
    for (std::size_t more; have < all; have += more) {
        more = std::min(have, all - have);
        std::memcpy(first + have, first, more);
    }
}

}}} // namespace rill::RILL_ABI::detail
