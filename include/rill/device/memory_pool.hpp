// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <rill/core/allocator.hpp>
#include <rill/device/device.hpp>

namespace rill { inline namespace RILL_ABI {

/// The source of a pool's large regions: a driver's allocation functions.
class region_source {
public:
    /// Returns a region, aligned to memory_pool::alignment; null if there is no memory left.
    virtual std::byte* take(std::size_t bytes) = 0;
    virtual void give_back(std::byte* region, std::size_t bytes) noexcept = 0;
    /// Returns the bytes of the whole memory.
    virtual std::size_t total() const = 0;

protected:
    ~region_source() = default;
};

/// Device memory in blocks, cut from regions that the pool keeps. Allocation calls of drivers are slow and wait for the device. Steps in
/// steady state make none.
class memory_pool final : public allocator {
public:
    static constexpr std::size_t alignment = 256;

    /// Makes an empty pool. `name` is the name of the memory in messages: "gpu:0". The source must outlive the pool.
    memory_pool(std::string name, region_source& source);
    memory_pool(const memory_pool&) = delete;
    ~memory_pool() override;

    /// Applies a session's limits to future regions. With a fraction and without allow_growth, the first allocation takes the whole
    /// fraction; otherwise the pool takes regions on demand. If both fields are at their defaults, earlier limits stay.
    void limit(const gpu_options& options);

    /// Returns a block. Throws resource_exhausted with the bytes requested, in use, allowed, and the largest blocks with their purposes
    /// (memory_purpose).
    void* allocate(std::size_t bytes) override;
    void deallocate(void* block, std::size_t bytes) noexcept override;

    std::size_t bytes_in_use() const;
    /// Returns the bytes of all regions that the pool holds.
    std::size_t bytes_held() const;
    /// Returns the bytes of the largest block that can be allocated, if the source has `left` bytes beside those of the pool.
    std::size_t largest_block(std::size_t left) const;
    std::size_t peak_bytes() const;
    /// Returns the bytes that can still be allocated, if the source has `left` bytes beside those of the pool.
    std::size_t free_bytes(std::size_t left) const;
    /// Releases all regions without a used block.
    void trim() noexcept;

private:
    using blocks = std::map<std::byte*, std::size_t>; // address -> bytes

    std::size_t most() const;
    bool add_region(std::size_t bytes);
    std::byte* cut(std::size_t bytes);
    std::byte* with_purpose(std::byte* block);
    void give_back_free() noexcept;
    [[noreturn]] void refuse(std::size_t bytes) const;

    const std::string name_;
    region_source& source_;
    mutable std::mutex mutex_;
    double fraction_ = 0;
    bool grows_ = true;
    blocks regions_, free_, used_;
    std::map<std::byte*, std::string> purposes_; // of used blocks that have one
    std::size_t held_ = 0, in_use_ = 0, peak_ = 0;
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/device/memory_pool.ipp>
#endif
