// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/memory_plan.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <rill/core/allocator.hpp>

namespace rill::inline RILL_ABI::detail {

RILL_INLINE std::size_t plan_arena(std::vector<arena_value>& values) {
    std::vector<std::size_t> order(values.size()), ends(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = ends[i] = i;
    // ties by number: std::stable_sort would do, but makes clang warn of the standard library's own use of itself
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return std::pair(values[a].first, a) < std::pair(values[b].first, b); });
    std::sort(ends.begin(), ends.end(), [&](auto a, auto b) { return std::pair(values[a].last, a) < std::pair(values[b].last, b); });
    const auto rounded = [](std::size_t n) { return (n + memory_alignment - 1) / memory_alignment * memory_alignment; };

    std::map<std::size_t, std::size_t> gaps;                // offset -> size
    std::set<std::pair<std::size_t, std::size_t>> by_size;  // the same, as (size, offset)
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
        if (auto before = gaps.lower_bound(offset); before != gaps.begin() && (--before)->first + before->second == offset) {
            const auto [first, length] = take_gap(before);
            offset = first;
            size += length;
        }
        add_gap(offset, size);
    };
    for (const auto i : order) {
        while (ended < ends.size() && values[ends[ended]].last < values[i].first) {
            const auto& gone = values[ends[ended++]];
            give_back(gone.offset, rounded(gone.bytes));
        }
        const std::size_t size = rounded(values[i].bytes);
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

} // namespace rill::inline RILL_ABI::detail
