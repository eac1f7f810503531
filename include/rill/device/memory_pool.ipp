// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/device/memory_pool.hpp>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/error.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD memory_pool::memory_pool(std::string name, region_source& source) : name_(std::move(name)), source_(source) {}

RILL_COLD memory_pool::~memory_pool() {
    for (const auto& [at, bytes] : regions_) source_.give_back(at, bytes);
}

RILL_COLD void memory_pool::limit(const gpu_options& options) {
    if (options.memory_fraction < 0 || options.memory_fraction > 1)
        throw invalid_argument("gpu.memory_fraction is " + std::to_string(options.memory_fraction) +
                               ", and must lie in [0, 1]");
    const std::lock_guard lock(mutex_);
    if (options.memory_fraction > 0) {
        fraction_ = options.memory_fraction;
        grows_ = options.allow_growth;
    } else if (options.allow_growth) {
        grows_ = true;
    }
}

/// Returns the most bytes that the pool may hold.
RILL_COLD std::size_t memory_pool::most() const {
    const std::size_t all = source_.total();
    return fraction_ > 0 ? static_cast<std::size_t>(fraction_ * static_cast<double>(all)) : all;
}

/// Takes a region of at least `bytes` bytes: the whole limit, or twice the bytes held.
RILL_COLD bool memory_pool::add_region(std::size_t bytes) {
    constexpr std::size_t least = std::size_t(1) << 20;
    const std::size_t limit = most(), left = limit > held_ ? limit - held_ : 0;
    if (bytes > left) return false;
    const std::size_t wanted = grows_ ? std::min(left, std::max({bytes, held_, least})) : left;
    for (std::size_t size = wanted / alignment * alignment;; size = bytes) {
        if (size >= bytes)
            if (std::byte* const at = source_.take(size)) {
                regions_.emplace(at, size);
                free_.emplace(at, size);
                held_ += size;
                return true;
            }
        if (size <= bytes) return false;
    }
}

/// Cuts a block from the smallest free block that fits; returns null if there is none.
RILL_INLINE std::byte* memory_pool::cut(std::size_t bytes) {
    auto best = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at)
        if (at->second >= bytes && (best == free_.end() || at->second < best->second)) best = at;
    if (best == free_.end()) return nullptr;
    const auto [block, size] = *best;
    free_.erase(best);
    if (size > bytes) free_.emplace(block + bytes, size - bytes);
    used_.emplace(block, bytes);
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
    return block;
}

RILL_INLINE void* memory_pool::allocate(std::size_t bytes) {
    const std::size_t wanted = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    const std::lock_guard lock(mutex_);
    if (wanted < bytes) refuse(bytes);
    if (std::byte* const block = cut(wanted)) return with_purpose(block);
    if (!add_region(wanted)) {
        give_back_free(); // releases regions too small for this block
        if (!add_region(wanted)) refuse(bytes);
    }
    return with_purpose(cut(wanted));
}

/// Notes what a new block is for.
RILL_INLINE std::byte* memory_pool::with_purpose(std::byte* block) {
    try {
        if (std::string purpose = memory_purpose::described(); !purpose.empty()) purposes_[block] = std::move(purpose);
    } catch (const std::bad_alloc&) {} // only a message lacks it
    return block;
}

RILL_INLINE void memory_pool::deallocate(void* block, std::size_t) noexcept {
    const std::lock_guard lock(mutex_);
    const auto used = used_.find(static_cast<std::byte*>(block));
    if (used == used_.end()) return;
    in_use_ -= used->second;
    purposes_.erase(used->first);
    auto at = free_.insert(used_.extract(used)).position;
    const auto joins = [&](blocks::iterator left, blocks::iterator right) { // not across regions
        return left->first + left->second == right->first && !regions_.contains(right->first);
    };
    if (const auto next = std::next(at); next != free_.end() && joins(at, next)) {
        at->second += next->second;
        free_.erase(next);
    }
    if (at == free_.begin()) return;
    if (const auto before = std::prev(at); joins(before, at)) {
        before->second += at->second;
        free_.erase(at);
    }
}

RILL_COLD void memory_pool::give_back_free() noexcept {
    for (auto region = regions_.begin(); region != regions_.end();) {
        const auto whole = free_.find(region->first);
        if (whole == free_.end() || whole->second != region->second) {
            ++region;
            continue;
        }
        source_.give_back(region->first, region->second);
        held_ -= region->second;
        free_.erase(whole);
        region = regions_.erase(region);
    }
}

RILL_COLD void memory_pool::trim() noexcept {
    const std::lock_guard lock(mutex_);
    give_back_free();
}

RILL_COLD void memory_pool::refuse(std::size_t bytes) const {
    constexpr std::size_t shown = 3;
    detail::vector<blocks::const_iterator> all;
    for (auto at = used_.begin(); at != used_.end(); ++at) all.push_back(at);
    detail::sort(all, [](const auto& a, const auto& b) { return a->second > b->second; });
    std::string largest;
    for (std::size_t i = 0; i < std::min(shown, all.size()); ++i) {
        largest += (i ? ", " : "; the largest blocks have ") + std::to_string(all[i]->second);
        if (const auto p = purposes_.find(all[i]->first); p != purposes_.end()) largest += " (" + p->second + ")";
    }
    throw resource_exhausted("memory of " + name_ + ": " + std::to_string(bytes) + " bytes are requested, " +
                             std::to_string(in_use_) + " of " + std::to_string(most()) + " are in use" + largest);
}

RILL_COLD std::size_t memory_pool::bytes_in_use() const {
    const std::lock_guard lock(mutex_);
    return in_use_;
}

RILL_COLD std::size_t memory_pool::bytes_held() const {
    const std::lock_guard lock(mutex_);
    return held_;
}

RILL_COLD std::size_t memory_pool::free_bytes(std::size_t left) const {
    const std::lock_guard lock(mutex_);
    const std::size_t all = std::min(left + held_, most());
    return all > in_use_ ? all - in_use_ : 0;
}

RILL_COLD std::size_t memory_pool::largest_block(std::size_t left) const {
    const std::lock_guard lock(mutex_);
    std::size_t largest = 0, unused = 0; // unused: the bytes of regions that can be given back
    for (const auto& [at, bytes] : free_) {
        largest = std::max(largest, bytes);
        const auto region = regions_.find(at);
        if (region != regions_.end() && region->second == bytes) unused += bytes;
    }
    const std::size_t used = held_ - unused, all = std::min(left + held_, most());
    return std::max(largest, all > used ? (all - used) / alignment * alignment : 0);
}

RILL_COLD std::size_t memory_pool::peak_bytes() const {
    const std::lock_guard lock(mutex_);
    return peak_;
}

}} // namespace rill::RILL_ABI
