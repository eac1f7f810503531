// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <rill/config.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A hash index of numbers at eight bytes per entry; std::unordered_map would allocate a block for each. The caller maps
/// numbers to keys and decides equality.
class hash_index {
public:
    static constexpr std::uint32_t none = ~std::uint32_t(0);

    /// Returns the first number with this hash that `matches` accepts, or `none`.
    template <class Matches> std::uint32_t find(std::uint64_t hash, const Matches& matches) const {
        if (entries_.empty()) return none;
        const std::uint32_t tag = tag_of(hash);
        for (std::size_t at = tag & mask();; at = (at + 1) & mask()) {
            const entry& e = entries_[at];
            if (e.number == none || (e.tag == tag && matches(e.number))) return e.number;
        }
    }
    void add(std::uint64_t hash, std::uint32_t number);
    void reserve(std::size_t count);
    /// Removes all numbers, and keeps the memory: as many as before can be added without an allocation.
    void clear() noexcept {
        for (auto& e : entries_) e = {};
        count_ = 0;
    }
    [[noreturn]] static void throw_unknown();

private:
    struct entry {
        std::uint32_t tag = 0, number = none;
    };

    static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash ^ (hash >> 32)); }
    std::size_t mask() const { return entries_.size() - 1; }
    void put(const entry& e);

    vector<entry> entries_; // a power of two; some are always free
    std::size_t count_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/hash_index.ipp>
#endif
