// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <new>
#include <utility>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

/// Alignment of every block of tensor memory, in bytes: a cache line and the widest register.
inline constexpr std::size_t memory_alignment = 64;

namespace detail {

/// What a value takes where others stand behind it.
constexpr std::size_t aligned_size(std::size_t bytes) {
    return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

} // namespace detail

/// The hook for tensor memory. Implementations are used from many threads at once and outlive what they gave out.
class RILL_EXPORT allocator {
public:
    virtual ~allocator() = default;
    /// A block aligned to `memory_alignment`; throws resource_exhausted.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void deallocate(void* block, std::size_t bytes) noexcept = 0;
};

/// The standard heap, counted, with an optional limit.
class RILL_EXPORT tracked_allocator final : public allocator {
public:
    explicit tracked_allocator(std::size_t limit = std::numeric_limits<std::size_t>::max()) : limit_(limit) {}

    RILL_INLINE void* allocate(std::size_t bytes) override;
    RILL_INLINE void deallocate(void* block, std::size_t bytes) noexcept override;

    std::size_t bytes_in_use() const noexcept { return in_use_.load(); }
    std::size_t peak_bytes() const noexcept { return peak_.load(); }

private:
    std::size_t limit_;
    std::atomic<std::size_t> in_use_{0}, peak_{0};
};

/// The allocator used where none is named; leaked, so that static tensors may outlive main.
RILL_EXPORT inline tracked_allocator& default_allocator() {
    static tracked_allocator& instance = *new tracked_allocator;
    return instance;
}

namespace detail {

/// One owned block.
class memory_block {
public:
    memory_block() = default;
    memory_block(allocator& from, std::size_t bytes)
        : from_(&from), data_(bytes ? from.allocate(bytes) : nullptr), bytes_(bytes) {}
    memory_block(memory_block&& other) noexcept
        : from_(other.from_), data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    memory_block& operator=(memory_block&& other) noexcept;
    ~memory_block();

    void* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }
    const allocator* from() const noexcept { return from_; }

private:
    allocator* from_ = nullptr;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

} // namespace detail

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/allocator.ipp>
#endif
