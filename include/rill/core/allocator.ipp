// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/allocator.hpp>

#include <algorithm>
#include <new>
#include <string>

#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

inline void* new_block(std::size_t bytes) noexcept {
    return ::operator new(bytes, std::align_val_t{memory_alignment}, std::nothrow);
}
inline void delete_block(void* block) noexcept { ::operator delete(block, std::align_val_t{memory_alignment}); }

RILL_INLINE void* spare_blocks::remove(std::size_t i) noexcept {
    const entry removed = entries_[i];
    std::copy(entries_.begin() + i + 1, entries_.begin() + count_, entries_.begin() + i);
    --count_;
    bytes_ -= removed.bytes;
    return removed.block;
}

RILL_INLINE void* spare_blocks::take(std::size_t bytes) noexcept {
    if (!kept_size(bytes)) return nullptr;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = count_; i-- > 0;)
        if (entries_[i].bytes == bytes) return remove(i);
    return nullptr;
}

RILL_INLINE bool spare_blocks::keep(void* block, std::size_t bytes) noexcept {
    if (!kept_size(bytes)) return false;
    const std::lock_guard lock(mutex_);
    while (count_ == entries_.size() || bytes_ + bytes > most_) delete_block(remove(0));
    entries_[count_++] = {block, bytes};
    bytes_ += bytes;
    return true;
}

RILL_INLINE void spare_blocks::clear() noexcept {
    const std::lock_guard lock(mutex_);
    while (count_ > 0) delete_block(remove(count_ - 1));
}

} // namespace detail

RILL_INLINE void* tracked_allocator::allocate(std::size_t bytes) {
    const std::size_t now = in_use_.fetch_add(bytes) + bytes;
    if (now > limit_) {
        in_use_.fetch_sub(bytes);
        throw resource_exhausted("allocator: " + std::to_string(bytes) + " bytes asked for, " +
                                 std::to_string(now - bytes) + " of " + std::to_string(limit_) + " in use");
    }
    void* block = spare_.take(bytes);
    if (!block) {
        block = detail::new_block(bytes);
        if (!block) {
            spare_.clear();
            block = detail::new_block(bytes);
        }
        if (!block) {
            in_use_.fetch_sub(bytes);
            throw resource_exhausted("allocator: the system has no " + std::to_string(bytes) + " bytes left");
        }
        detail::prefer_large_pages(block, bytes);
    }
    std::size_t peak = peak_.load();
    while (peak < now && !peak_.compare_exchange_weak(peak, now)) {}
    return block;
}

RILL_INLINE void tracked_allocator::deallocate(void* block, std::size_t bytes) noexcept {
    if (!spare_.keep(block, bytes)) detail::delete_block(block);
    in_use_.fetch_sub(bytes);
}

namespace detail {

RILL_INLINE memory_block& memory_block::operator=(memory_block&& other) noexcept {
    std::swap(from_, other.from_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

RILL_INLINE memory_block::~memory_block() {
    if (data_) from_->deallocate(data_, bytes_);
}

} // namespace detail

}} // namespace rill::RILL_ABI
