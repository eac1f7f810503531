// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/memory_plan.hpp>

#include <algorithm>
#include <iterator>
#include <map>
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

    std::map<std::size_t, std::size_t> gaps; // offset -> size
    std::size_t top = 0, ended = 0;
    const auto give_back = [&](std::size_t offset, std::size_t size) {
        if (size == 0) return;
        auto at = gaps.emplace(offset, size).first;
        if (const auto next = std::next(at); next != gaps.end() && at->first + at->second == next->first) {
            at->second += next->second;
            gaps.erase(next);
        }
        if (at != gaps.begin())
            if (const auto before = std::prev(at); before->first + before->second == at->first) {
                before->second += at->second;
                gaps.erase(at);
            }
    };
    for (const auto i : order) {
        while (ended < ends.size() && values[ends[ended]].last < values[i].first) {
            const auto& gone = values[ends[ended++]];
            give_back(gone.offset, rounded(gone.bytes));
        }
        const std::size_t size = rounded(values[i].bytes);
        auto best = gaps.end();
        for (auto at = gaps.begin(); at != gaps.end(); ++at)
            if (at->second >= size && (best == gaps.end() || at->second < best->second)) best = at;
        if (best != gaps.end()) {
            values[i].offset = best->first;
            const std::size_t left = best->second - size;
            gaps.erase(best);
            if (left) gaps.emplace(values[i].offset + size, left);
        } else if (!gaps.empty() && gaps.rbegin()->first + gaps.rbegin()->second == top) {
            values[i].offset = gaps.rbegin()->first; // the gap at the top grows
            gaps.erase(std::prev(gaps.end()));
            top = values[i].offset + size;
        } else {
            values[i].offset = top;
            top += size;
        }
    }
    return top;
}

} // namespace rill::inline RILL_ABI::detail
