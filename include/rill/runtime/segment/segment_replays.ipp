// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/segment.hpp>

#include <cstddef>
#include <cstdint>

#include <rill/core/memory_space.hpp>

// Replays of captured ranges, and the start of steps that are captured as a whole.

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_INLINE bool segment::replay(frame& f, const bound_graph::captured_range& range, range_replays& all) const {
    if (all.known.is_refused()) return false;
    struct end_holds { // the kernels are started, or the steps run one by one
        range_replays& of;
        ~end_holds() { of.holds.clear(); }
    } const at_end{all};
    if (!hold_variables(f, range, all)) return false;
    all.known.addresses.clear();
    for (const auto slot : range.slots) all.known.addresses.push_back(f.slots[slot]);
    const auto* const start = all.known.find(
        [&] { return range.space->capture(*range.space, [&] { start_steps(f, range.first, range.last); }); });
    if (!start) return false;
    (*start)();
    std::size_t held = 0;
    for (const auto& v : range.variables) {
        auto& mine = f.variables[v.variable];
        if (!v.writes && mine) continue;
        const auto& hold = all.holds[held++];
        if (v.writes) hold.wrote(mine, v.keeps);
    }
    for (const auto v : range.releases) f.variables[v].reset();
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

RILL_INLINE void segment::start_steps(const frame& f, std::int32_t first, std::int32_t last) const {
    for (auto k = first; k < last; ++k) b_.steps[k].run(args_of(f, b_.steps[k]));
}

}}} // namespace rill::RILL_ABI::detail
