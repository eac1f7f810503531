// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include <rill/core/error.hpp>

namespace rill { inline namespace RILL_ABI {

/// Alignment of every block of tensor memory, in bytes: a cache line and the widest register.
inline constexpr std::size_t memory_alignment = 64;

namespace detail {

/// Returns the size rounded up to a multiple of memory_alignment.
constexpr std::size_t aligned_size(std::size_t bytes) {
    return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

/// A cache of freed large blocks, which are reused for requests of the same size. The cache drops the oldest first. Page faults in fresh
/// memory cost several times as much as filling it.
class spare_blocks {
public:
    /// Limits the cache to `most` bytes.
    explicit spare_blocks(std::size_t most) : most_(most) {}
    ~spare_blocks() { clear(); }

    /// Returns a block of exactly this size, or null if the cache has none.
    void* take(std::size_t bytes) noexcept;
    /// Takes ownership of a block from the system. Returns false if blocks of this size are not kept.
    bool keep(void* block, std::size_t bytes) noexcept;
    void clear() noexcept;

private:
    static constexpr std::size_t least = 1 << 16; // the heap caches smaller blocks itself

    struct entry {
        void* block;
        std::size_t bytes;
    };
    bool kept_size(std::size_t bytes) const { return bytes >= least && bytes <= most_; }
    void* remove(std::size_t i) noexcept;

    const std::size_t most_;
    std::mutex mutex_;
    std::array<entry, 8> entries_ = {}; // the oldest first
    std::size_t count_ = 0, bytes_ = 0;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RILL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RILL_SANITIZED 1
#endif
#endif
#ifdef RILL_SANITIZED // the sanitizer must see every allocation and release
inline constexpr std::size_t spare_bytes = 0;
#else
inline constexpr std::size_t spare_bytes = std::size_t{32} << 20;
#endif

} // namespace detail

/// The hook for tensor memory. Implementations must be thread-safe and outlive all their blocks.
class RILL_EXPORT allocator {
public:
    virtual ~allocator() = default;
    /// Returns a block aligned to `memory_alignment`. Throws resource_exhausted.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void deallocate(void* block, std::size_t bytes) noexcept = 0;
};

/// The purpose of what this thread allocates, as long as the object lives. Allocators with a limit name the largest holders in their errors.
class RILL_EXPORT memory_purpose {
public:
    /// Returns a description of a holder: "variable float32 [3]".
    using describe_function = std::string (*)(const void* holder);

    memory_purpose(describe_function describe, const void* holder) noexcept
        : describe_(describe), holder_(holder), before_(std::exchange(current(), this)) {}
    ~memory_purpose() { current() = before_; }
    memory_purpose(const memory_purpose&) = delete;

    /// Returns the description of the innermost purpose; empty if there is none.
    static std::string described() {
        const auto* const now = current();
        return now ? now->describe_(now->holder_) : std::string();
    }

private:
    static const memory_purpose*& current() noexcept {
        thread_local const memory_purpose* now = nullptr;
        return now;
    }

    describe_function describe_;
    const void* holder_;
    const memory_purpose* before_;
};

/// The standard heap with a byte count and an optional limit. It keeps up to `spare` bytes of freed large blocks for requests of the
/// same size. Kept blocks do not count as in use. They are released if the system is out of memory.
class RILL_EXPORT tracked_allocator final : public allocator {
public:
    explicit tracked_allocator(std::size_t limit = std::numeric_limits<std::size_t>::max(),
                               std::size_t spare = detail::spare_bytes)
        : limit_(limit), spare_(spare) {}

    RILL_INLINE void* allocate(std::size_t bytes) override;
    RILL_INLINE void deallocate(void* block, std::size_t bytes) noexcept override;

    std::size_t bytes_in_use() const noexcept { return in_use_.load(); }
    std::size_t peak_bytes() const noexcept { return peak_.load(); }

private:
    std::size_t limit_;
    std::atomic<std::size_t> in_use_{0}, peak_{0};
    detail::spare_blocks spare_;
};

/// Returns the default allocator. It is leaked, so that static tensors may outlive main.
RILL_EXPORT inline tracked_allocator& default_allocator() {
    static tracked_allocator& instance = *new tracked_allocator;
    return instance;
}

namespace detail {

/// The owner of one block.
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
