// SPDX-License-Identifier: BSD-3-Clause
#include <rill/core/allocator.hpp>

#include <array>
#include <new>

#include "catch.hpp"

using namespace rill;

TEST_CASE("allocator: aligned blocks, counted") {
    tracked_allocator memory;
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (const std::size_t bytes : {1u, 3u, 64u, 100u, 4097u}) {
        blocks.emplace_back(memory.allocate(bytes), bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(blocks.back().first) % memory_alignment == 0);
    }
    CHECK(memory.bytes_in_use() == 1 + 3 + 64 + 100 + 4097);
    for (const auto& [block, bytes] : blocks) memory.deallocate(block, bytes);
    CHECK(memory.bytes_in_use() == 0);
    CHECK(memory.peak_bytes() == 1 + 3 + 64 + 100 + 4097);
}

TEST_CASE("allocator: over the limit, resource_exhausted says how much was asked for, and nothing stays counted") {
    tracked_allocator memory(1000);
    void* held = memory.allocate(600);
    CHECK_THROWS_AS(memory.allocate(401), resource_exhausted);
    CHECK_THROWS_WITH(memory.allocate(401), contains("401 bytes") && contains("600 of 1000"));
    CHECK(memory.bytes_in_use() == 600);
    CHECK(memory.peak_bytes() == 600);
    memory.deallocate(memory.allocate(400), 400);
    memory.deallocate(held, 600);
    CHECK(memory.peak_bytes() == 1000);
}

#ifndef RILL_SANITIZED // sanitizers stop the program at such a request
TEST_CASE("allocator: more than the system has is resource_exhausted too") {
    tracked_allocator memory;
    CHECK_THROWS_AS(memory.allocate(std::size_t{1} << 62), resource_exhausted);
    CHECK(memory.bytes_in_use() == 0);
}
#endif

TEST_CASE("allocator: a block is given back once, however it moves") {
    tracked_allocator memory;
    {
        detail::memory_block a(memory, 100), empty(memory, 0), unset;
        CHECK(empty.data() == nullptr);
        detail::memory_block b(std::move(a));
        CHECK(a.data() == nullptr);
        a = std::move(b);
        unset = std::move(a);
        CHECK(unset.bytes() == 100);
        CHECK(memory.bytes_in_use() == 100);
    }
    CHECK(memory.bytes_in_use() == 0);
}

TEST_CASE("allocator: counts are exact from many threads, and the limit holds") {
    tracked_allocator memory(64 * 4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                try {
                    void* block = memory.allocate(128);
                    memory.deallocate(block, 128);
                } catch (const resource_exhausted&) {}
            }
        });
    for (auto& t : threads) t.join();
    CHECK(memory.bytes_in_use() == 0);
    CHECK(memory.peak_bytes() <= 64 * 4);
    CHECK(memory.peak_bytes() >= 128);
}

TEST_CASE("allocator: a large block that came back serves the next of its size, and is not in use meanwhile") {
    constexpr std::size_t large = 1 << 20;
    tracked_allocator memory(2 * large, 3 * large);
    void* const first = memory.allocate(large);
    memory.deallocate(first, large);
    CHECK(memory.bytes_in_use() == 0);
    void* const other = memory.allocate(large / 2);
    CHECK(other != first);
    void* const again = memory.allocate(large);
    CHECK(again == first);
    memory.deallocate(again, large);
    memory.deallocate(other, large / 2);
    CHECK(memory.peak_bytes() == large + large / 2);
}

TEST_CASE("allocator: what is kept is bounded in bytes and in blocks, and the newest stay") {
    constexpr std::size_t large = 1 << 16;
    std::array<void*, 9> blocks = {};
    const auto fill = [&](detail::spare_blocks& kept) {
        for (auto& b : blocks) {
            b = ::operator new(large, std::align_val_t{memory_alignment});
            REQUIRE(kept.keep(b, large));
        }
    };
    const auto count = [&](detail::spare_blocks& kept) {
        std::size_t n = 0;
        while (void* const b = kept.take(large)) {
            CHECK(b == blocks[blocks.size() - 1 - n++]);
            ::operator delete(b, std::align_val_t{memory_alignment});
        }
        return n;
    };
    detail::spare_blocks many(100 * large), few(3 * large + 1);
    fill(many);
    CHECK(count(many) == 8);
    fill(few);
    CHECK(count(few) == 3);
    int small = 0;
    CHECK_FALSE(few.keep(&small, sizeof small));
    CHECK_FALSE(few.keep(&small, 4 * large));
    CHECK(few.take(sizeof small) == nullptr);
}
