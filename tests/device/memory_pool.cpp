// SPDX-License-Identifier: BSD-3-Clause
#include <rill/device/memory_pool.hpp>

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "catch.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_memory_pool {

/// A device's memory of so many bytes, on the host.
class source final : public region_source {
public:
    explicit source(std::size_t total) : total_(total) {}
    std::byte* take(std::size_t bytes) override {
        ++calls;
        if (bytes > total_ - taken_ || bytes > longest) return nullptr;
        taken_ += bytes;
        return static_cast<std::byte*>(::operator new(bytes, std::align_val_t(memory_pool::alignment)));
    }
    void give_back(std::byte* region, std::size_t bytes) noexcept override {
        taken_ -= bytes;
        ::operator delete(region, std::align_val_t(memory_pool::alignment));
    }
    std::size_t total() const override { return total_; }
    std::size_t taken() const { return taken_; }

    int calls = 0;
    std::size_t longest = ~std::size_t(0); // of a region that the driver finds

private:
    std::size_t total_, taken_ = 0;
};

constexpr std::size_t mega = std::size_t(1) << 20;

TEST_CASE("memory_pool: it grows as needed, and a steady state takes nothing from the driver") {
    source from(64 * mega);
    {
        memory_pool pool("gpu:0", from);
        void* const a = pool.allocate(100);
        CHECK(reinterpret_cast<std::uintptr_t>(a) % memory_pool::alignment == 0);
        CHECK(pool.bytes_in_use() == memory_pool::alignment);
        CHECK(pool.bytes_held() == mega);
        void* const b = pool.allocate(3 * mega);
        CHECK(pool.bytes_held() == 4 * mega);
        const int before = from.calls;
        for (int i = 0; i < 100; ++i) {
            void* const c = pool.allocate(1000);
            pool.deallocate(c, 1000);
        }
        CHECK(from.calls == before);
        pool.deallocate(b, 3 * mega);
        pool.trim();
        CHECK(pool.bytes_held() == mega); // one of its blocks is in use
        pool.deallocate(a, 100);
        pool.trim();
        CHECK(from.taken() == 0);
        CHECK(pool.peak_bytes() == 3 * mega + 5 * memory_pool::alignment);
        (void)pool.allocate(1); // given back with the pool
    }
    CHECK(from.taken() == 0);
}

TEST_CASE("memory_pool: the largest block that it can give is one of its own, or what the driver would give for a new "
          "region") {
    source from(16 * mega);
    memory_pool pool("gpu:0", from);
    const auto largest = [&] { return pool.largest_block(from.total() - from.taken()); };
    CHECK(largest() == 16 * mega);
    void* const a = pool.allocate(100);
    CHECK(largest() == 15 * mega);
    void* const b = pool.allocate(9 * mega);
    CHECK(pool.bytes_held() == 10 * mega);
    CHECK(largest() == 6 * mega);
    pool.deallocate(b, 9 * mega);
    CHECK(largest() == 15 * mega); // the region can be given back
    void* const c = pool.allocate(mega);
    CHECK(largest() == 8 * mega); // beside c, in its region
    CHECK_NOTHROW(pool.deallocate(pool.allocate(largest()), 8 * mega));
    CHECK_THROWS_AS(pool.allocate(8 * mega + 1), resource_exhausted);
    pool.deallocate(c, mega);
    pool.deallocate(a, 100);
}

TEST_CASE("memory_pool: a fraction is taken at once, or is the limit of growth") {
    source from(64 * mega);
    memory_pool whole("gpu:0", from);
    whole.limit({.memory_fraction = 0.25});
    (void)whole.allocate(1);
    CHECK(from.taken() == 16 * mega);
    memory_pool growing("gpu:1", from);
    growing.limit({.memory_fraction = 0.25, .allow_growth = true});
    (void)growing.allocate(1);
    CHECK(growing.bytes_held() == mega);
    growing.limit({}); // says nothing: the limit stays
    CHECK_THROWS_AS(growing.allocate(17 * mega), resource_exhausted);
    CHECK_NOTHROW(growing.allocate(14 * mega));
    CHECK_THROWS_WITH(growing.limit({.memory_fraction = 1.5}), contains("gpu.memory_fraction is 1.5"));
}

TEST_CASE("memory_pool: out of memory names what is asked for and what is in use, and leaves the pool usable") {
    source from(8 * mega);
    memory_pool pool("gpu:0", from);
    void* const a = pool.allocate(4 * mega);
    void* const b = pool.allocate(1000);
    CHECK_THROWS_WITH(pool.allocate(6 * mega),
                      contains("memory of gpu:0: 6291456 bytes are requested, 4195328 of 8388608 "
                               "are in use; the largest blocks have 4194304, 1024"));
    CHECK(pool.free_bytes(8 * mega - pool.bytes_held()) == 8 * mega - 4195328);
    CHECK(pool.free_bytes(0) == pool.bytes_held() - 4195328);
    CHECK(pool.free_bytes(100 * mega) == 8 * mega - 4195328); // no more than is allowed
    pool.deallocate(a, 4 * mega);
    pool.deallocate(b, 1000);
    void* const c = pool.allocate(7 * mega); // regions that were too small are given back for it
    pool.deallocate(c, 7 * mega);
    from.longest = 2 * mega;
    pool.trim();
    (void)pool.allocate(2 * mega);
    (void)pool.allocate(2 * mega);
    (void)pool.allocate(mega); // twice what is held would be more than the driver finds at once
    CHECK(pool.bytes_held() == 5 * mega);
    CHECK_THROWS_AS(pool.allocate(~std::size_t(0)), resource_exhausted);
}

TEST_CASE("memory_pool: the largest blocks are named by what they were allocated for") {
    source from(8 * mega);
    memory_pool pool("gpu:0", from);
    const auto named = [](const void* name) { return std::string(static_cast<const char*>(name)); };
    void *first = nullptr, *second = nullptr;
    {
        const memory_purpose outer(named, "the weights");
        first = pool.allocate(4 * mega);
        const memory_purpose inner(named, "a step");
        second = pool.allocate(mega);
    }
    (void)pool.allocate(1000);
    CHECK_THROWS_WITH(pool.allocate(6 * mega),
                      contains("the largest blocks have 4194304 (the weights), 1048576 (a step), 1024"));
    pool.deallocate(first, 4 * mega);
    pool.deallocate(second, mega);
    (void)pool.allocate(4 * mega); // at an address that has lost its purpose
    CHECK_THROWS_WITH(pool.allocate(6 * mega), contains("the largest blocks have 4194304, 1024"));
}

TEST_CASE("memory_pool: blocks never overlap", "[random]") {
    seeds::each(20, [](std::uint64_t seed) {
        source from(16 * mega);
        memory_pool pool("gpu:0", from);
        std::map<std::byte*, std::pair<std::size_t, int>> blocks;
        seeds::draws draw(seed);
        for (int i = 0; i < 400; ++i) {
            if (draw(2) || blocks.empty()) {
                const std::size_t bytes = 1 + draw(40000);
                auto* const at = static_cast<std::byte*>(pool.allocate(bytes));
                std::memset(at, i % 251, bytes);
                blocks.emplace(at, std::pair(bytes, i % 251));
            } else {
                auto one = blocks.begin();
                std::advance(one, draw(blocks.size()));
                const auto [bytes, value] = one->second;
                for (std::size_t k = 0; k < bytes; ++k)
                    if (one->first[k] != static_cast<std::byte>(value)) FAIL("a block was overwritten, seed " << seed);
                pool.deallocate(one->first, bytes);
                blocks.erase(one);
            }
        }
        for (const auto& [at, block] : blocks) pool.deallocate(at, block.first);
        CHECK(pool.bytes_in_use() == 0);
        pool.trim();
        CHECK(from.taken() == 0);
    });
}

} // namespace test_memory_pool
