// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/segment.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <rill/core/algorithm.hpp>
#include <rill/core/memory_space.hpp>

// Replays of captured ranges. When a frame meets addresses for the first time, the steps run one by one: kernels are loaded, libraries
// choose algorithms. The second time they are captured, later ones are replays.

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE bool segment::replay(frame& f, const bound_graph::captured_range& range, range_replays& all) const {
    if (all.is_refused) return false;
    struct end_holds { // the kernels are started, or the steps run one by one
        range_replays& of;
        ~end_holds() { of.holds.clear(); }
    } const at_end{all};
    if (!hold_variables(f, range, all)) return false;
    const auto* found = find_replay(f, range, all);
    if (!found) return false;
    found->start();
    std::size_t held = 0;
    for (const auto& v : range.variables) {
        auto& mine = f.variables[v.variable];
        if (!v.writes && mine) continue;
        const auto& hold = all.holds[held++];
        if (v.writes) hold.wrote(mine, v.keeps);
    }
    for (auto k = range.first; k < range.last; ++k) {
        const auto& s = b_.steps[k];
        for (std::int32_t r = 0; r < s.releases; ++r) f.variables[b_.release_list[s.first_release + r]].reset();
    }
    return true;
}

RILL_INLINE bool segment::hold_variables(frame& f, const bound_graph::captured_range& range, range_replays& all) const {
    for (const auto& v : range.variables) {
        const auto& variable = b_.variables[v.variable];
        const auto& mine = f.variables[v.variable];
        void* at = mine ? mine->data() : nullptr;
        if (v.writes || !mine) {
            const auto& hold = all.holds.emplace_back(*variable.state);
            at = v.writes ? hold.to_write(mine, v.how) : hold.to_read();
            if (!at) return false;
        }
        f.slots[variable.slot] = at;
        if (v.writes) f.slots[variable.slot - 1] = at;
    }
    return true;
}

RILL_INLINE const range_replays::replay* segment::find_replay(const frame& f, const bound_graph::captured_range& range,
                                                              range_replays& all) const {
    all.addresses.clear();
    for (const auto slot : range.slots) all.addresses.push_back(f.slots[slot]);
    const auto is_same = [&](const auto& r) { return std::ranges::equal(r.addresses, all.addresses); };
    auto& latest = all.known[0];
    if (!is_same(latest)) {
        auto at = detail::find_if(all.known, is_same);
        const bool is_new = at == all.known.end();
        if (is_new) --at; // the one used least recently
        std::rotate(all.known.begin(), at, at + 1);
        if (is_new) {
            latest.addresses.swap(all.addresses);
            latest.start = nullptr;
            return nullptr;
        }
    }
    if (!latest.start) {
        latest.start = range.space->capture(*range.space, [&] {
            for (auto k = range.first; k < range.last; ++k) b_.steps[k].run(args_of(f, b_.steps[k]));
        });
        all.is_refused = !latest.start;
    }
    return latest.start ? &latest : nullptr;
}

}}} // namespace rill::RILL_ABI::detail
