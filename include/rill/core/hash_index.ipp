// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/hash_index.hpp>

#include <bit>
#include <stdexcept>
#include <utility>

#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE void hash_index::add(std::uint64_t hash, std::uint32_t number) {
    reserve(++count_);
    put({tag_of(hash), number});
}

RILL_INLINE void hash_index::reserve(std::size_t count) {
    if (count * 3 <= entries_.size() * 2) return;
    const auto before = std::exchange(entries_, vector<entry>(std::bit_ceil(count * 2 + 8)));
    for (const auto& e : before)
        if (e.number != none) put(e);
}

RILL_COLD void hash_index::throw_unknown() { throw std::out_of_range("hash_map::at: there is no such key"); }

RILL_INLINE void hash_index::put(const entry& e) {
    std::size_t at = e.tag & mask();
    while (entries_[at].number != none) at = (at + 1) & mask();
    entries_[at] = e;
}

}}} // namespace rill::RILL_ABI::detail
