// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/captured_ranges.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/memory_space.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the memory of the device that can capture the step; null if none can.
inline const memory_space* capturing_space(const bound_graph& b, const bound_graph::step& s) {
    using home = bound_graph::slot_value::home;
    const auto& it = b.graph.items[s.item];
    const auto* space = it.memory();
    if (!space || !space->capture || !it.op || s.region >= 0 || s.reads_error_records) return nullptr;
    if (it.op->stateful() && s.writes == 0 && s.random < 0) return nullptr;
    for (auto k = s.inputs; k < s.end; ++k) {
        const auto& slot = b.slots[b.indices[k]];
        const bool is_fixed = slot.where == home::constant || slot.where == home::folded || slot.bytes == 0;
        if (slot.space != space && !is_fixed) return nullptr;
    }
    const auto in_window = [&](const parallel_regions& p) { return p.first <= s.number && s.number < p.last; };
    return detail::any_of(b.parallel, in_window) ? nullptr : space;
}

/// Adds a use of a variable to a range.
inline void add_use(bound_graph::captured_range& range, const bound_graph::captured_range::used_variable& use) {
    const auto known = detail::find_if(range.variables, [&](const auto& v) { return v.variable == use.variable; });
    if (known == range.variables.end()) return range.variables.push_back(use);
    if (!use.writes) return;
    known->writes = true;
    known->keeps = use.keeps;
    if (use.how != variable_write::elements) known->how = use.how;
}

RILL_COLD vector<bound_graph::captured_range> find_captured_ranges(const bound_graph& b) {
    constexpr int fewest = 2; // one step is started as fast as a range
    vector<bound_graph::captured_range> found;
    const auto steps = static_cast<std::int32_t>(b.steps.size());
    for (std::int32_t k = 0; k < steps;) {
        bound_graph::captured_range range;
        range.first = range.last = k;
        range.space = capturing_space(b, b.steps[k]);
        while (range.space && range.last < steps && capturing_space(b, b.steps[range.last]) == range.space)
            ++range.last;
        k = std::max(k + 1, range.last);
        if (range.last - range.first < fewest) continue;
        for (auto n = range.first; n < range.last; ++n) {
            const auto& s = b.steps[n];
            range.slots.insert(range.slots.end(), b.indices.begin() + s.inputs, b.indices.begin() + s.end);
            if (s.slices_of >= 0) add_use(range, {s.slices_of});
            for (std::int32_t r = 0; r < s.releases; ++r) range.releases.push_back(b.release_list[s.first_release + r]);
            for (const auto& w : b.written_by(s)) {
                add_use(range, {w.variable, true, w.keeps, s.how});
                std::erase(range.releases, w.variable); // of the version before the write
                range.slots.push_back(b.variables[w.variable].slot);
            }
        }
        detail::sort(range.slots);
        range.slots.erase(std::unique(range.slots.begin(), range.slots.end()), range.slots.end());
        auto& used = range.variables;
        detail::sort(used, [&](const auto& x, const auto& y) { return b.comes_first(x.variable, y.variable); });
        const auto is_same = [&](const auto& x, const auto& y) {
            return b.variables[x.variable].state == b.variables[y.variable].state;
        };
        // two nodes of a shared variable: it can't be held twice
        if (std::adjacent_find(used.begin(), used.end(), is_same) == used.end()) found.push_back(std::move(range));
    }
    return found;
}

RILL_COLD bound_graph::whole find_whole_capture(const bound_graph& b) {
    if (b.spaces.size() != 1 || !b.variables.empty() || !b.streams.empty()) return {};
    bound_graph::whole all{b.spaces[0], static_cast<std::int32_t>(b.steps.size())};
    if (all.steps > 0 && b.graph.fetches.size() == 1) {
        const auto& last = b.steps[all.steps - 1];
        const auto& it = b.graph.items[last.item];
        if (it.is_copy() && !it.memory() && b.graph.fetches[0].item == last.item) {
            --all.steps;
            all.copied = b.indices[last.inputs];
            if (b.slots[all.copied].space != all.space) return {};
        }
    }
    for (std::int32_t k = 0; k < all.steps; ++k)
        if (capturing_space(b, b.steps[k]) != all.space) return {};
    for (std::size_t i = 0; all.copied < 0 && i < b.graph.fetches.size(); ++i)
        if (b.slots[b.slot_of(b.graph.fetches[i])].space != all.space) return {};
    return all;
}

}}} // namespace rill::RILL_ABI::detail
