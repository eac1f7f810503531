// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/step_order.hpp>

#include <algorithm>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD vector<step_order> order_of_steps(const bound_graph& b) {
    std::vector<int> step_of(b.graph.items.size(), -1);
    for (std::size_t k = 0; k < b.steps.size(); ++k) {
        const auto item = static_cast<std::size_t>(b.steps[k].item);
        if (b.group_of[item] < 0)
            step_of[item] = static_cast<int>(k);
        else
            for (const int i : b.fusion_groups[b.group_of[item]].items) step_of[i] = static_cast<int>(k);
    }
    // control dependencies pass from item to item, through items that are not steps
    constexpr std::size_t few = 16;
    vector<step_order> before(b.graph.items.size()), order(b.steps.size());
    const auto add = [](step_order& to, const step_order& more) {
        to.after.insert(to.after.end(), more.after.begin(), more.after.end());
        to.fence = std::max(to.fence, more.fence);
        if (to.after.size() <= few) return;
        to.fence = std::max(to.fence, *std::max_element(to.after.begin(), to.after.end()));
        to.after.clear();
    };
    for (std::size_t i = 0; i < b.graph.items.size(); ++i) {
        const auto& it = b.graph.items[i];
        const int k = step_of[i];
        auto& here = k < 0 ? before[i] : order[k];
        for (const int a : it.after) add(here, before[a]);
        if (k >= 0)
            before[i].after = {k};
        else
            for (const auto& v : it.inputs) add(here, before[v.item]);
    }
    // data dependencies: on the last writer of a slot, and before the next write on all readers since
    std::vector<int> writer(b.slots.size(), -1);
    std::vector<std::vector<int>> readers(b.slots.size());
    for (std::size_t k = 0; k < b.steps.size(); ++k) {
        const auto& s = b.steps[k];
        auto& after = order[k].after;
        const auto each = [&](std::int32_t begin, std::int32_t end, auto&& f) {
            for (auto j = begin; j < end; ++j) {
                const auto variable = b.slots[b.indices[j]].variable; // one place, though of two slots
                f(static_cast<std::size_t>(variable < 0 ? b.indices[j] : b.variables[variable].slot));
            }
        };
        each(s.inputs, s.end, [&](std::size_t slot) {
            if (writer[slot] >= 0) after.push_back(writer[slot]);
        });
        each(s.outputs, s.end, [&](std::size_t slot) {
            after.insert(after.end(), readers[slot].begin(), readers[slot].end());
            readers[slot].clear();
            writer[slot] = static_cast<int>(k);
        });
        each(s.inputs, s.outputs, [&](std::size_t slot) {
            if (writer[slot] != static_cast<int>(k)) readers[slot].push_back(static_cast<int>(k));
        });
        detail::sort(after);
        after.erase(std::unique(after.begin(), after.end()), after.end());
        std::erase(after, static_cast<int>(k));
    }
    return order;
}

}}} // namespace rill::RILL_ABI::detail
