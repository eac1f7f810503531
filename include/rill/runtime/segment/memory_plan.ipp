// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/memory_plan.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/allocator.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Assigns offsets in order of creation: each value gets the smallest gap that holds it. Returns the arena's size.
inline std::size_t plan_by_creation(vector<arena_value>& values) {
    std::vector<std::size_t> order(values.size()), ends(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = ends[i] = i;
    detail::sort(order, [&](auto a, auto b) { return values[a].first < values[b].first; });
    detail::sort(ends, [&](auto a, auto b) { return values[a].last < values[b].last; });
    std::map<std::size_t, std::size_t> gaps;               // offset -> size
    std::set<std::pair<std::size_t, std::size_t>> by_size; // the same, as (size, offset)
    const auto add_gap = [&](std::size_t offset, std::size_t size) {
        gaps.emplace(offset, size);
        by_size.emplace(size, offset);
    };
    const auto take_gap = [&](std::map<std::size_t, std::size_t>::iterator at) {
        const auto taken = *at;
        by_size.erase({taken.second, taken.first});
        gaps.erase(at);
        return taken;
    };
    std::size_t top = 0, ended = 0;
    const auto give_back = [&](std::size_t offset, std::size_t size) {
        if (size == 0) return;
        if (const auto next = gaps.find(offset + size); next != gaps.end()) size += take_gap(next).second;
        if (auto before = gaps.lower_bound(offset);
            before != gaps.begin() && (--before)->first + before->second == offset) {
            const auto [first, length] = take_gap(before);
            offset = first;
            size += length;
        }
        add_gap(offset, size);
    };
    for (const auto i : order) {
        while (ended < ends.size() && values[ends[ended]].last < values[i].first) {
            const auto& gone = values[ends[ended++]];
            give_back(gone.offset, aligned_size(gone.bytes));
        }
        const std::size_t size = aligned_size(values[i].bytes);
        if (const auto best = by_size.lower_bound({size, 0}); best != by_size.end()) {
            const auto [offset, length] = take_gap(gaps.find(best->second));
            values[i].offset = offset;
            if (length > size) add_gap(offset + size, length - size);
        } else if (!gaps.empty() && gaps.rbegin()->first + gaps.rbegin()->second == top) {
            values[i].offset = take_gap(std::prev(gaps.end())).first; // the gap at the top grows
            top = values[i].offset + size;
        } else {
            values[i].offset = top;
            top += size;
        }
    }
    return top;
}

/// Assigns offsets in a given order: each value gets the smallest gap between values alive with it. Returns the arena's size.
inline std::size_t plan_in_order(vector<arena_value>& values, const std::vector<std::size_t>& order) {
    vector<const arena_value*> placed; // by offset
    std::size_t top = 0;
    for (const auto i : order) {
        auto& v = values[i];
        const std::size_t size = aligned_size(v.bytes);
        std::size_t free_from = 0, best = 0, best_gap = static_cast<std::size_t>(-1);
        for (const auto* p : placed) {
            if (p->last < v.first || v.last < p->first) continue;
            if (p->offset >= free_from + size && p->offset - free_from < best_gap) {
                best = free_from;
                best_gap = p->offset - free_from;
            }
            free_from = std::max(free_from, p->offset + aligned_size(p->bytes));
        }
        v.offset = best_gap == static_cast<std::size_t>(-1) ? free_from : best;
        top = std::max(top, v.offset + size);
        const auto above = [](std::size_t at, const arena_value* p) { return at < p->offset; };
        placed.insert(std::upper_bound(placed.begin(), placed.end(), v.offset, above), &v);
    }
    return top;
}

RILL_COLD std::size_t plan_arena(vector<arena_value>& values) {
    std::size_t size = plan_by_creation(values);
    constexpr std::size_t few = 1000; // the other strategies take time quadratic in the number of values
    if (values.size() > few) return size;
    const auto lasts = [](const arena_value& v) { return static_cast<std::size_t>(v.last - v.first + 1); };
    const auto better_by = [&](auto&& weight) { // heaviest first
        std::vector<std::size_t> order(values.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        detail::sort(order,
                     [&](auto a, auto b) { return std::pair(weight(values[b]), a) < std::pair(weight(values[a]), b); });
        auto again = values;
        if (const std::size_t other = plan_in_order(again, order); other < size) {
            size = other;
            values = std::move(again);
        }
    };
    better_by([](const arena_value& v) { return v.bytes; });
    better_by([&](const arena_value& v) { return v.bytes * lasts(v); });
    better_by(lasts);
    return size;
}

}}} // namespace rill::RILL_ABI::detail
