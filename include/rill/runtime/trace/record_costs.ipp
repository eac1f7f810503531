// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/trace/record_costs.hpp>

#include <cstddef>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void record_costs(cost_record& into, const step_trace& step, const graph_state& of, placement& where) {
    const auto& all = step.entries;
    // members of a fusion group are adjacent entries that begin and end together
    const auto together = [](const step_trace::entry& a, const step_trace::entry& b) {
        return a.begin == b.begin && a.end == b.end && a.thread == b.thread && a.inside == b.inside && a.what == b.what;
    };
    for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
        for (last = first + 1; last < all.size() && together(all[first], all[last]);) ++last;
        if (all[first].what == step_trace::kind::waited) continue;
        const auto took = static_cast<double>(all[first].end - all[first].begin) / 1e3;
        for (auto k = first; k < last; ++k) {
            const auto* n = of.find(all[k].node); // null: a copy, an exchange, or a node in place of primitives
            if (!n || !where.is_placed(*n) || where.has_moved(*n)) continue;
            const auto& there = where.device_of(*n);
            if (!there.space) into.add(n->name, *there.type, took / static_cast<double>(last - first));
        }
    }
}

}}} // namespace rill::RILL_ABI::detail
