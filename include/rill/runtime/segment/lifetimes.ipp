// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/lifetimes.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>
#include <rill/runtime/segment/memory_plan.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class lifetimes {
public:
    explicit lifetimes(bound_graph& b) : b_(b), lane_of_(b.steps.size(), anywhere) {
        for (std::size_t r = 0; r < b.parallel.size(); ++r)
            for (std::size_t l = 0; l < b.parallel[r].lanes.size(); ++l)
                for (const int k : b.parallel[r].lanes[l]) lane_of_[k] = {static_cast<int>(r), static_cast<int>(l)};
    }

    void note_uses();
    void share_places(std::span<const shared_place> may_share);
    void lay_out();

private:
    using home = bound_graph::slot_value::home;
    using lane = std::pair<int, int>; // a window, and a lane in it
    static constexpr lane anywhere{-1, 0};

    int steps() const { return static_cast<int>(b_.steps.size()); }
    template <class F> void for_each_use(const F& f) const {
        for (std::size_t k = 0; k < b_.steps.size(); ++k)
            for (auto j = b_.steps[k].inputs; j < b_.steps[k].end; ++j) f(static_cast<std::size_t>(b_.indices[j]), k);
    }
    std::size_t owner_of(std::size_t slot) const {
        const int owner = b_.slots[slot].in_place_of;
        return owner >= 0 ? static_cast<std::size_t>(owner) : slot;
    }
    const parallel_regions* window_at(int step) const {
        const int r = step < steps() ? lane_of_[step].first : -1;
        return r < 0 ? nullptr : &b_.parallel[r];
    }
    /// Slots that own memory, by the only lane that uses them.
    using lane_slots = std::map<lane, std::vector<std::size_t>>;
    lane_slots owners(const memory_space* space) const;
    /// Assigns the offsets of one space; returns the size of its arena.
    std::size_t lay_out(const memory_space* space);
    std::size_t bound(const lane_slots& groups) const;
    vector<arena_value> values_of(const std::vector<std::size_t>& slots) const;

    bound_graph& b_;
    vector<lane> lane_of_; // per step
};

RILL_COLD void lifetimes::note_uses() {
    for_each_use([&](std::size_t slot, std::size_t k) {
        auto& s = b_.slots[slot];
        // check whether another lane of the same window uses it
        const auto before = s.last < 0 ? lane{-2, 0} : lane_of_[s.last];
        s.many_lanes = before.first == lane_of_[k].first && (s.many_lanes || before != lane_of_[k]);
        if (s.first < 0) s.first = static_cast<int>(k);
        s.last = static_cast<int>(k);
    });
    for (std::size_t k = 0; k < b_.steps.size(); ++k) {
        if (!b_.steps[k].ends_late) continue;
        // no step waits for a copy to the host that none reads: it may end as late as the run
        auto& s = b_.slots[static_cast<std::size_t>(b_.indices[b_.steps[k].outputs])];
        if (s.last == static_cast<int>(k)) s.last = steps();
    }
    for (const auto& f : b_.graph.fetches) b_.slots[b_.slot_of(f)].last = steps();
}

RILL_COLD void lifetimes::share_places(std::span<const shared_place> may_share) {
    for (const auto& [k, from, to] : may_share) {
        const int in = b_.slot_of(from);
        auto& result = b_.slots[b_.slot_of(to)];
        const auto& input = b_.slots[in];
        const auto now = static_cast<int>(k);
        if (result.where != home::arena || result.bytes == 0 || result.in_place_of >= 0 || input.many_lanes ||
            input.where != home::arena || input.space != result.space || input.last != now || input.first == now ||
            b_.type_of(from).shape != result.type.shape || size_of(b_.type_of(from).type) != size_of(result.type.type))
            continue;
        // if several results share a place, the first owns the memory and has the lifetime of all
        const int owner = input.in_place_of >= 0 ? input.in_place_of : in;
        auto& memory = b_.slots[owner];
        if (memory.last != now) continue; // another result of this step has taken it
        result.in_place_of = owner;
        memory.last = result.last;
    }
}

RILL_COLD lifetimes::lane_slots lifetimes::owners(const memory_space* space) const {
    constexpr lane unused{-2, 0};
    vector<lane> user(b_.slots.size(), unused);
    for_each_use([&](std::size_t slot, std::size_t k) {
        auto& u = user[owner_of(slot)];
        u = u == unused || u == lane_of_[k] ? lane_of_[k] : anywhere;
    });
    lane_slots all;
    for (std::size_t i = 0; i < b_.slots.size(); ++i) {
        const auto& s = b_.slots[i];
        const bool in_arena = s.where == home::arena || s.where == home::scratch;
        if (!in_arena || s.space != space || s.bytes == 0 || s.first < 0 || s.in_place_of >= 0) continue;
        all[s.last == steps() ? anywhere : user[i]].push_back(i); // a fetch outlives its lane
    }
    return all;
}

RILL_COLD vector<arena_value> lifetimes::values_of(const std::vector<std::size_t>& slots) const {
    vector<arena_value> values;
    for (const auto i : slots) values.push_back({b_.slots[i].bytes, b_.slots[i].first, b_.slots[i].last, 0});
    return values;
}

RILL_COLD void lifetimes::lay_out() {
    b_.offsets.assign(b_.slots.size(), bound_graph::npos);
    b_.arenas = {{}};
    for (const auto& s : b_.slots)
        if (detail::none_of(b_.arenas, [&](const auto& a) { return a.space == s.space; }))
            b_.arenas.push_back({s.space, 0});
    b_.arena_bytes = b_.lower_bound = 0;
    for (auto& a : b_.arenas) b_.arena_bytes += a.bytes = lay_out(a.space);
    for (std::size_t i = 0; i < b_.slots.size(); ++i) b_.offsets[i] = b_.offsets[owner_of(i)];
}

RILL_COLD std::size_t lifetimes::lay_out(const memory_space* space) {
    auto groups = owners(space);
    b_.lower_bound += bound(groups);
    const auto shared = std::move(groups[anywhere]);
    groups.erase(anywhere);

    // values that only one lane uses form one block, which is alive for the whole window
    vector<arena_value> all;
    for (const auto& [at, slots] : groups) {
        const auto& window = b_.parallel[at.first];
        auto values = values_of(slots);
        all.push_back({plan_arena(values), window.first, window.last - 1, 0});
        for (std::size_t i = 0; i < slots.size(); ++i) b_.offsets[slots[i]] = values[i].offset;
    }
    for (auto v : values_of(shared)) {
        if (const auto* window = window_at(v.first)) v.first = window->first;
        if (const auto* window = window_at(v.last)) v.last = window->last - 1;
        all.push_back(v);
    }
    const std::size_t bytes = plan_arena(all);

    auto placed = all.begin();
    for (const auto& [at, slots] : groups) {
        for (const auto slot : slots) b_.offsets[slot] += placed->offset;
        ++placed;
    }
    for (const auto slot : shared) b_.offsets[slot] = (placed++)->offset;
    return bytes;
}

/// Returns the maximum of bytes alive at once, if steps run in sequence.
RILL_COLD std::size_t lifetimes::bound(const lane_slots& groups) const {
    std::vector<std::ptrdiff_t> change(b_.steps.size() + 2);
    for (const auto& [at, slots] : groups)
        for (const auto& v : values_of(slots)) {
            change[v.first] += static_cast<std::ptrdiff_t>(v.bytes);
            change[static_cast<std::size_t>(v.last) + 1] -= static_cast<std::ptrdiff_t>(v.bytes);
        }
    std::ptrdiff_t alive = 0, most = 0;
    for (const auto c : change) most = std::max(most, alive += c);
    return static_cast<std::size_t>(most);
}

RILL_COLD void plan_memory(bound_graph& b, std::span<const shared_place> may_share) {
    const auto plan = [&] {
        lifetimes l(b);
        l.note_uses();
        l.share_places(may_share);
        l.lay_out();
    };
    if (b.parallel.empty()) return plan();
    const auto slots = b.slots;
    plan();
    // parallel lanes may cost some memory in exchange for time
    constexpr std::size_t little = std::size_t(1) << 19;
    if (b.arena_bytes <= std::max(b.lower_bound + little, b.lower_bound / 10 * 11)) return;
    b.parallel.clear();
    b.slots = slots;
    plan();
}

}}} // namespace rill::RILL_ABI::detail
