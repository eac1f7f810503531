// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <rill/core/dims.hpp>
#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail { inline namespace RILL_ISA {

/// Linked lists of the slices with the same id (table row), in their order of appearance. They lie in scratch memory;
/// one pass over the ids builds them.
class row_chains {
public:
    /// Returns the bytes of scratch memory for `count` ids.
    static std::size_t bytes(index_t count) {
        return static_cast<std::size_t>(2 * count + (index_t(1) << bits_for(count))) * sizeof(index_t);
    }

    template <class I>
    row_chains(const I* ids, index_t count, void* scratch)
        : next_(static_cast<index_t*>(scratch)), last_(next_ + count) {
        index_t* const firsts = last_ + count; // hash table: the first slice of each id
        const int bits = bits_for(count);
        const index_t size = index_t(1) << bits;
        std::fill_n(firsts, size, index_t(-1));
        for (index_t k = 0; k < count; ++k) {
            next_[k] = -1;
            last_[k] = -1;
            auto at = static_cast<index_t>(static_cast<std::uint64_t>(ids[k]) * 0x9E3779B97F4A7C15u >> (64 - bits));
            while (firsts[at] >= 0 && ids[firsts[at]] != ids[k]) at = (at + 1) & (size - 1);
            if (firsts[at] < 0) {
                firsts[at] = k;
                last_[k] = k;
            } else {
                index_t& last = last_[firsts[at]];
                next_[last] = k;
                last = k;
            }
        }
    }

    /// Returns true if slice k is the first of its id.
    bool is_first(index_t k) const { return last_[k] >= 0; }
    /// Returns the next slice of the same id, or -1.
    index_t next(index_t k) const { return next_[k]; }

private:
    /// Returns the bits of the hash table's size; at least half of the table stays empty.
    static int bits_for(index_t count) {
        return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<index_t>(count, 1)))) + 1;
    }

    index_t* next_;
    index_t* last_; // for a first slice: the end of its list; -1 for others
};

}}}} // namespace rill::RILL_ABI::detail::RILL_ISA
