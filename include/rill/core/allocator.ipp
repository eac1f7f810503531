// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/allocator.hpp>

#include <iterator>
#include <string>

#include <rill/core/platform.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE void* tracked_allocator::allocate(std::size_t bytes) {
    const std::size_t now = in_use_.fetch_add(bytes) + bytes;
    if (now > limit_) {
        in_use_.fetch_sub(bytes);
        throw resource_exhausted("allocator: " + std::to_string(bytes) + " bytes asked for, " +
                                 std::to_string(now - bytes) + " of " + std::to_string(limit_) + " in use");
    }
    void* block = ::operator new(bytes, std::align_val_t{memory_alignment}, std::nothrow);
    if (!block) {
        in_use_.fetch_sub(bytes);
        throw resource_exhausted("allocator: the system has no " + std::to_string(bytes) + " bytes left");
    }
    detail::prefer_large_pages(block, bytes);
    std::size_t peak = peak_.load();
    while (peak < now && !peak_.compare_exchange_weak(peak, now)) {}
    return block;
}

RILL_INLINE void tracked_allocator::deallocate(void* block, std::size_t bytes) noexcept {
    ::operator delete(block, std::align_val_t{memory_alignment});
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
