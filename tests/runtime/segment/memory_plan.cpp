// SPDX-License-Identifier: BSD-3-Clause
#include <rill/runtime/segment/memory_plan.hpp>

#include <random>

#include <rill/core/allocator.hpp>

#include "catch.hpp"
#include "seeds.hpp"

using namespace rill;

namespace test_memory_plan {

using detail::arena_value;

inline std::size_t rounded(std::size_t bytes) {
    return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
}

/// The most that is alive at once.
inline std::size_t lower_bound(const detail::vector<arena_value>& values) {
    std::size_t most = 0;
    for (const auto& at : values) {
        std::size_t alive = 0;
        for (const auto& v : values)
            if (v.first <= at.first && at.first <= v.last) alive += rounded(v.bytes);
        most = std::max(most, alive);
    }
    return most;
}

/// Values alive at once don't overlap, all are aligned and within the arena.
inline bool sound(const detail::vector<arena_value>& values, std::size_t arena) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto& a = values[i];
        if (a.offset % memory_alignment != 0 || a.offset + a.bytes > arena) return false;
        for (std::size_t j = 0; j < i; ++j) {
            const auto& b = values[j];
            const bool together = a.first <= b.last && b.first <= a.last;
            if (together && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes) return false;
        }
    }
    return true;
}

} // namespace test_memory_plan

TEST_CASE("memory plan: random lifetimes never overlap, and the arena stays near what is alive at once", "[random]") {
    using namespace test_memory_plan;
    double total = 0, least = 0;
    int unsound = 0;
    seeds::each(300, [&](std::uint64_t trial) {
        std::mt19937 random(static_cast<std::uint32_t>(trial));
        detail::vector<arena_value> values(1 + random() % 60);
        for (auto& v : values) {
            v.bytes = 1 + random() % (trial % 3 ? 5000 : 64);
            v.first = static_cast<int>(random() % 50);
            v.last = v.first + static_cast<int>(random() % (trial % 2 ? 5 : 30));
        }
        const auto arena = detail::plan_arena(values);
        unsound += !sound(values, arena);
        total += static_cast<double>(arena);
        least += static_cast<double>(lower_bound(values));
        CHECK(arena >= lower_bound(values));
    });
    CHECK(unsound == 0);
    if (seeds::all()) CHECK(total < 1.07 * least);
}

TEST_CASE("memory plan: a chain needs two places, values of one size none wasted") {
    using namespace test_memory_plan;
    detail::vector<arena_value> chain;
    for (int i = 0; i < 100; ++i) chain.push_back({1000, i, i + 1, 0});
    CHECK(detail::plan_arena(chain) == 2 * 1024);
    CHECK(sound(chain, 2 * 1024));
    detail::vector<arena_value> nested; // as forward values kept for their gradients
    for (int i = 0; i < 50; ++i) nested.push_back({64, i, 100 - i, 0});
    CHECK(detail::plan_arena(nested) == 50 * 64);
    CHECK(sound(nested, 50 * 64));
}

TEST_CASE("memory plan: small values do not take a place that a large one needs later") {
    using namespace test_memory_plan;
    detail::vector<arena_value> values{{6400, 0, 1, 0}, {64, 1, 5, 0}, {6464, 2, 3, 0}, {64, 3, 5, 0}, {6400, 4, 5, 0}};
    const auto least = lower_bound(values);
    CHECK(detail::plan_arena(values) == least);
    CHECK(sound(values, least));
}

TEST_CASE("memory plan: freed neighbours become one place, nothing needs nothing") {
    using namespace test_memory_plan;
    detail::vector<arena_value> values{{64, 0, 1, 0}, {64, 0, 1, 0}, {64, 0, 9, 0}, {128, 2, 3, 0}};
    CHECK(detail::plan_arena(values) == 192);
    CHECK(sound(values, 192));
    detail::vector<arena_value> none;
    CHECK(detail::plan_arena(none) == 0);
}

TEST_CASE("memory plan: 100,000 values of a long step") {
    using namespace test_memory_plan;
    detail::vector<arena_value> values;
    for (int i = 0; i < 100000; ++i) values.push_back({static_cast<std::size_t>(64 + i % 7 * 64), i, i + 1 + i % 3, 0});
    const auto arena = detail::plan_arena(values);
    CHECK(arena < 10 * 512);
}
