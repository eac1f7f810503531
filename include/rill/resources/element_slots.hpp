// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/any_array.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Throws invalid_argument unless `capacity` is -1 (no limit) or at least 1.
void check_capacity(index_t capacity);

/// Formats component types as "(float32 [2], int32 [])".
std::string tuple_text(std::span<const tensor_type> components);
/// Throws invalid_argument if the component types `are` do not fit `expected`. A check at run time, because a handle may be fed.
void require_components(const std::string& whose, std::span<const tensor_type> are,
                        std::span<const tensor_type> expected);

/// Copies an array into the leading corner of a larger one of the same rank.
void copy_into_corner(const any_array& from, const dims& room, std::byte* to);

/// The storage of a queue's elements: tuples of arrays, one slot per element. Components of a small fixed size are packed side by side. A
/// batch of consecutive elements then leaves in one copy. Other components are separate arrays.
class element_slots {
public:
    element_slots(std::span<const tensor_type> components, allocator& memory);

    allocator& memory() const noexcept { return memory_; }
    /// Stores an element and returns its slot. Separate arrays are moved in if they have one owner and lie in this storage's memory. All
    /// others are copied.
    std::int32_t put(std::vector<any_array>&& element);
    /// Copies elements k, k + 1, … of a batch and writes one slot for each to `slots`. Stores all or, if it throws, none.
    void put(std::span<const any_array> batch, index_t k, std::span<std::int32_t> slots);
    /// Returns the element of a slot and frees the slot.
    std::vector<any_array> take(std::int32_t slot);
    /// Returns elements stacked along a new first axis; `pad` pads them with zeros to the longest. Their slots stay in use. Throws
    /// invalid_argument if shapes differ and `pad` is false.
    std::vector<any_array> stacked(std::span<const std::int32_t> slots, bool pad) const;
    /// Returns the element of a slot, which stays in use. Separate arrays are shared.
    std::vector<any_array> peek(std::int32_t slot) const;
    void drop(std::span<const std::int32_t> slots);
    /// Returns the first component, an int64 of rank 0.
    std::int64_t priority(std::int32_t slot) const;

private:
    struct component {
        tensor_type type;
        std::size_t bytes = 0; // bytes per element if packed; 0: separate arrays
        memory_block packed = {};
        std::vector<any_array> arrays = {};
    };
    static constexpr std::size_t small = 4096; // bytes; larger components are separate arrays

    any_array packed_element(const component& c, std::int32_t slot) const;
    static std::byte* packed(const component& c, std::int32_t slot) {
        return static_cast<std::byte*>(c.packed.data()) + c.bytes * static_cast<std::size_t>(slot);
    }

    void free_slots(std::span<std::int32_t> slots);
    void reserve(std::int32_t slots);
    void store(component& c, std::int32_t slot, const tensor_type& type, const void* data);
    any_array stacked(const component& c, std::span<const std::int32_t> slots, bool pad) const;

    allocator& memory_;
    std::vector<component> components_;
    std::deque<std::int32_t> free_; // longest free first: consecutive elements then get consecutive slots
    std::int32_t count_ = 0, capacity_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <rill/core/shape_rules.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void check_capacity(index_t capacity) {
    if (capacity == 0 || capacity < -1)
        throw invalid_argument("the capacity is " + std::to_string(capacity) + "; it must be 1 or more (-1: no limit)");
}

RILL_COLD std::string tuple_text(std::span<const tensor_type> components) {
    std::string text = "(";
    for (const auto& c : components) text += (text.size() > 1 ? ", " : "") + to_string(c);
    return text + ")";
}

RILL_INLINE void require_components(const std::string& whose, std::span<const tensor_type> are,
                                    std::span<const tensor_type> expected) {
    const auto fits = [](const tensor_type& is, const tensor_type& wanted) {
        return is == wanted || (is.type == wanted.type && rules::compatible(is.shape, wanted.shape));
    };
    if (!detail::equal(are, expected, fits))
        throw invalid_argument(whose + ": its elements are " + tuple_text(are) + ", not " + tuple_text(expected));
}

RILL_COLD element_slots::element_slots(std::span<const tensor_type> components, allocator& memory) : memory_(memory) {
    for (const auto& t : components) {
        auto& c = components_.emplace_back(component{t});
        if (!t.shape.complete() || t.type == dtype::string) continue;
        const auto bytes = t.bytes();
        if (bytes <= small) c.bytes = bytes;
    }
}

/// Returns how many of the first slots are consecutive: their packed elements are contiguous.
inline std::size_t run_length(std::span<const std::int32_t> slots) {
    std::size_t n = 1;
    while (n < slots.size() && slots[n] == slots[n - 1] + 1) ++n;
    return n;
}

RILL_COLD void element_slots::reserve(std::int32_t slots) {
    const std::int32_t larger = std::max({capacity_ * 2, slots, 16});
    for (auto& c : components_) {
        if (c.bytes == 0) {
            c.arrays.resize(static_cast<std::size_t>(larger));
            continue;
        }
        memory_block wider(memory_, c.bytes * static_cast<std::size_t>(larger));
        if (count_ > 0) std::memcpy(wider.data(), c.packed.data(), c.bytes * static_cast<std::size_t>(count_));
        c.packed = std::move(wider);
    }
    capacity_ = larger;
}

RILL_INLINE void element_slots::free_slots(std::span<std::int32_t> slots) {
    const auto old = std::min(slots.size(), free_.size());
    const auto fresh = static_cast<std::int32_t>(slots.size() - old);
    if (count_ + fresh > capacity_) reserve(count_ + fresh);
    const auto end = free_.begin() + static_cast<std::ptrdiff_t>(old);
    std::iota(std::copy(free_.begin(), end, slots.begin()), slots.end(), count_);
    free_.erase(free_.begin(), end);
    count_ += fresh;
}

RILL_INLINE void element_slots::store(component& c, std::int32_t slot, const tensor_type& type, const void* data) {
    if (c.bytes > 0) {
        std::memcpy(packed(c, slot), data, c.bytes);
        return;
    }
    any_array own(type.type, type.shape, memory_);
    copy_elements(type.type, data, own.mutable_data(), type.shape.size());
    c.arrays[static_cast<std::size_t>(slot)] = std::move(own);
}

RILL_INLINE std::int32_t element_slots::put(std::vector<any_array>&& element) {
    std::int32_t slot = 0;
    free_slots({&slot, 1});
    try {
        for (std::size_t i = 0; i < components_.size(); ++i)
            if (auto& c = components_[i]; c.bytes == 0 && element[i].is_sole() && element[i].memory() == &memory_)
                c.arrays[static_cast<std::size_t>(slot)] = std::move(element[i]);
            else
                store(c, slot, element[i].type(), element[i].data());
    } catch (...) {
        drop({&slot, 1});
        throw;
    }
    return slot;
}

RILL_INLINE void element_slots::put(std::span<const any_array> batch, index_t k, std::span<std::int32_t> slots) {
    free_slots(slots);
    try {
        for (std::size_t i = 0; i < components_.size(); ++i) {
            auto& c = components_[i];
            const tensor_type one{batch[i].dtype(), rules::slice(batch[i].shape())};
            const auto bytes = one.bytes();
            const auto* from = static_cast<const std::byte*>(batch[i].data()) + bytes * static_cast<std::size_t>(k);
            for (auto rest = std::span<const std::int32_t>(slots); !rest.empty();) {
                const std::size_t n = c.bytes > 0 ? run_length(rest) : 1;
                if (c.bytes > 0)
                    std::memcpy(packed(c, rest[0]), from, n * bytes);
                else
                    store(c, rest[0], one, from);
                from += n * bytes;
                rest = rest.subspan(n);
            }
        }
    } catch (...) {
        drop(slots);
        throw;
    }
}

RILL_INLINE any_array element_slots::packed_element(const component& c, std::int32_t slot) const {
    any_array made(c.type.type, c.type.shape, memory_);
    std::memcpy(made.mutable_data(), packed(c, slot), c.bytes);
    return made;
}

RILL_INLINE std::vector<any_array> element_slots::take(std::int32_t slot) {
    std::vector<any_array> element;
    element.reserve(components_.size());
    for (auto& c : components_)
        element.push_back(c.bytes > 0 ? packed_element(c, slot) : std::move(c.arrays[static_cast<std::size_t>(slot)]));
    drop({&slot, 1});
    return element;
}

RILL_COLD std::vector<any_array> element_slots::peek(std::int32_t slot) const {
    std::vector<any_array> element;
    for (const auto& c : components_)
        element.push_back(c.bytes > 0 ? packed_element(c, slot) : c.arrays[static_cast<std::size_t>(slot)]);
    return element;
}

RILL_INLINE void element_slots::drop(std::span<const std::int32_t> slots) {
    for (auto& c : components_)
        if (c.bytes == 0)
            for (const auto slot : slots) c.arrays[static_cast<std::size_t>(slot)] = {};
    free_.insert(free_.end(), slots.begin(), slots.end());
}

RILL_INLINE std::int64_t element_slots::priority(std::int32_t slot) const {
    return *reinterpret_cast<const std::int64_t*>(packed(components_[0], slot));
}

RILL_INLINE std::vector<any_array> element_slots::stacked(std::span<const std::int32_t> slots, bool pad) const {
    std::vector<any_array> all;
    for (const auto& c : components_) all.push_back(stacked(c, slots, pad));
    return all;
}

RILL_INLINE void copy_into_corner(const any_array& from, const dims& room, std::byte* to) {
    const int rank = room.rank;
    const std::size_t size = size_of(from.dtype());
    const index_t row = rank == 0 ? 1 : from.shape()[rank - 1];
    if (from.size() == 0) return;
    index_list at;
    at.rank = rank;
    for (index_t done = 0; done < from.size(); done += row) {
        index_t place = 0;
        for (int i = 0; i < rank; ++i) place = place * room[i] + at[i];
        copy_elements(from.dtype(), static_cast<const std::byte*>(from.data()) + static_cast<std::size_t>(done) * size,
                      to + static_cast<std::size_t>(place) * size, row);
        for (int i = rank - 2; i >= 0 && ++at[i] == from.shape()[i]; --i) at[i] = 0;
    }
}

RILL_INLINE any_array element_slots::stacked(const component& c, std::span<const std::int32_t> slots, bool pad) const {
    const auto array = [&](std::int32_t slot) -> const any_array& { return c.arrays[static_cast<std::size_t>(slot)]; };
    dims each = c.type.shape;
    if (c.bytes == 0) {
        for (int i = 0; i < each.rank; ++i)
            if (each[i] == dyn) each[i] = 0;
        for (std::size_t k = 0; k < slots.size(); ++k) {
            const dims& one = array(slots[k]).shape();
            if (k == 0 && (!pad || !each.known_rank())) each = one;
            if (one == each) continue;
            if (!pad)
                throw invalid_argument("elements of the shapes " + to_string(each) + " and " + to_string(one) +
                                       " can't be stacked; a padding_fifo_queue fills them up");
            for (int i = 0; i < each.rank; ++i) each[i] = std::max(each[i], one[i]);
        }
    }
    dims shape{static_cast<index_t>(slots.size())};
    for (int i = 0; i < each.rank; ++i) shape.push(each[i]);
    any_array made(c.type.type, shape, memory_);
    auto* to = static_cast<std::byte*>(made.mutable_data());
    const std::size_t bytes = static_cast<std::size_t>(each.size()) * size_of(c.type.type);
    if (c.bytes > 0) {
        while (!slots.empty()) {
            const std::size_t n = run_length(slots);
            std::memcpy(to, packed(c, slots[0]), n * bytes);
            to += n * bytes;
            slots = slots.subspan(n);
        }
        return made;
    }
    for (std::size_t k = 0; k < slots.size(); ++k, to += bytes) {
        const auto& one = array(slots[k]);
        if (one.shape() == each) {
            copy_elements(c.type.type, one.data(), to, each.size());
            continue;
        }
        if (c.type.type != dtype::string) std::memset(to, 0, bytes);
        copy_into_corner(one, each, to);
    }
    return made;
}

}}} // namespace rill::RILL_ABI::detail
#endif
