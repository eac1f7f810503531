// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/variable_reads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A use of a variable by a step. A fetch counts as a step after the last one.
struct variable_use {
    std::int32_t step;
    bool writes, slices;
};

/// Returns true if the step reads slices of the variable.
inline bool reads_slices(const bound_graph& b, const bound_graph::step& s, std::int32_t variable) {
    const auto& it = b.graph.items[s.item];
    if (!it.origin || b.group_of[s.item] >= 0 || s.writes > 0) return false;
    const int input = it.op->reads_slices_of();
    return input >= 0 && b.slots[b.slot_of(it.inputs[input])].variable == variable;
}

/// Returns the uses of each variable, in order. Marks those that need a value when a run starts.
inline vector<vector<variable_use>> find_variable_uses(bound_graph& b) {
    vector<vector<variable_use>> uses(b.variables.size());
    std::vector<char> written(b.variables.size());
    for (std::size_t k = 0; k < b.steps.size(); ++k) {
        const auto& s = b.steps[k];
        const auto& it = b.graph.items[s.item];
        input_list may_lack;
        if (it.op) may_lack = it.op->may_be_uninitialized();
        for (std::int32_t j = s.inputs; j < s.outputs; ++j) {
            const auto v = b.slots[b.indices[j]].variable;
            if (v < 0) continue;
            const auto input = j - s.inputs;
            const bool target = s.writes > 0 && it.writes(static_cast<std::size_t>(input));
            if (!written[v] && !detail::contains(may_lack, input) && !(target && s.how == variable_write::initialises))
                b.variables[v].needs_value = true;
            uses[v].push_back({static_cast<std::int32_t>(k), target || b.writes_variable(s, v), reads_slices(b, s, v)});
        }
        for (const auto& w : b.written_by(s)) written[w.variable] = 1;
    }
    for (const auto& f : b.graph.fetches)
        if (const auto v = b.slots[b.slot_of(f)].variable; v >= 0) {
            if (!written[v]) b.variables[v].needs_value = true;
            uses[v].push_back({static_cast<std::int32_t>(b.steps.size()), false, false});
        }
    return uses;
}

RILL_COLD void plan_variable_reads(bound_graph& b) {
    const auto uses = find_variable_uses(b);
    const auto in_one_window = [&](std::int32_t x, std::int32_t y) {
        return detail::any_of(b.parallel,
                              [&](const auto& p) { return p.first <= std::min(x, y) && std::max(x, y) < p.last; });
    };
    vector<vector<std::int32_t>> released(b.steps.size());
    for (std::size_t v = 0; v < b.variables.size(); ++v) {
        auto& variable = b.variables[v];
        const auto number = static_cast<std::int32_t>(v);
        const bool large = b.slots[variable.slot].bytes > variable_state::small_bytes;
        const std::span all(uses[v]);
        const auto first_write = detail::find_if(all, [](const auto& u) { return u.writes; });
        const auto at_start = all.first(static_cast<std::size_t>(first_write - all.begin()));
        const bool slices = large && detail::all_of(at_start, [](const auto& u) { return u.slices; });
        if (slices && at_start.size() == 1) {
            auto& reader = b.steps[at_start[0].step];
            variable.reads = bound_graph::bound_variable::start::slices;
            reader.slices_of = number;
            reader.plain = false;
        } else if (!at_start.empty()) {
            variable.reads = bound_graph::bound_variable::start::held;
            const auto last = at_start.back().step;
            // another reader may run later, in another lane of the window
            if (slices && detail::none_of(at_start.first(at_start.size() - 1),
                                          [&](const auto& u) { return in_one_window(u.step, last); }))
                released[last].push_back(number);
        }
        if (large && !all.empty() && all.back().writes) {
            const auto& s = b.steps[all.back().step];
            for (std::int32_t w = 0; w < s.writes; ++w)
                if (auto& by = b.write_list[s.first_write + w]; by.variable == number) by.keeps = false;
        }
    }
    for (std::size_t k = 0; k < b.steps.size(); ++k) {
        if (released[k].empty()) continue;
        auto& s = b.steps[k];
        s.plain = false;
        s.first_release = static_cast<std::int32_t>(b.release_list.size());
        s.releases = static_cast<std::int32_t>(released[k].size());
        b.release_list.insert(b.release_list.end(), released[k].begin(), released[k].end());
    }
}

}}} // namespace rill::RILL_ABI::detail
