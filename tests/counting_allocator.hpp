// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>

#include <rill/core/allocator.hpp>

/// An allocator that counts blocks of at least so many bytes. Their memory comes from the default allocator.
class counting_allocator final : public rill::allocator {
public:
    explicit counting_allocator(std::size_t large) : large_(large) {}

    void* allocate(std::size_t bytes) override {
        void* const block = rill::default_allocator().allocate(bytes);
        if (bytes >= large_) ++blocks_, ++in_use_;
        return block;
    }
    void deallocate(void* block, std::size_t bytes) noexcept override {
        if (bytes >= large_) --in_use_;
        rill::default_allocator().deallocate(block, bytes);
    }

    /// Returns how many such blocks were made.
    int blocks() const { return blocks_; }
    /// Returns how many of them were not given back.
    int in_use() const { return in_use_; }

private:
    const std::size_t large_;
    std::atomic<int> blocks_{0}, in_use_{0};
};
