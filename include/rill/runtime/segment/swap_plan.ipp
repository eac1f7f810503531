// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/segment/swap_plan.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/allocator.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class swap_finder {
public:
    swap_finder(const bound_graph& b, const memory_space& space)
        : b_(b), space_(space), step_of_(b.graph.items.size(), -1), alive_(b.steps.size()) {
        for (std::size_t k = 0; k < b.steps.size(); ++k) {
            const auto item = static_cast<std::size_t>(b.steps[k].item);
            const int group = b.group_of[item];
            first_items_.push_back(group < 0 ? b.steps[k].item : b.fusion_groups[group].items[0]);
            step_of_[item] = static_cast<int>(k);
            if (group >= 0)
                for (const int i : b.fusion_groups[group].items) step_of_[i] = static_cast<int>(k);
        }
        find_alive();
        find_gaps();
    }

    /// Returns the largest number of bytes alive at once.
    std::size_t most_alive() const { return alive_.empty() ? 0 : *std::max_element(alive_.begin(), alive_.end()); }

    std::vector<swapped_value> run(std::size_t most) && {
        std::vector<swapped_value> all;
        while (most_alive() > most) {
            const auto peak = static_cast<int>(std::max_element(alive_.begin(), alive_.end()) - alive_.begin());
            const gap* best = nullptr;
            for (const auto& g : gaps_)
                if (g.from < peak && peak < g.to && (!best || g.weight() > best->weight())) best = &g;
            if (!best) return {};
            add(*best, all);
            for (int k = best->from + 1; k < best->to; ++k) alive_[k] -= best->bytes;
            const int slot = best->slot;
            erase_if(gaps_,
                     [&](const gap& g) { return g.slot == slot; }); // its other gaps have their turn in another round
        }
        return all;
    }

private:
    /// The steps between two uses of a slot, which do not need it.
    struct gap {
        int slot, from, to;
        std::size_t bytes;
        double weight() const { return static_cast<double>(bytes) * (to - from - 1); }
    };
    using home = bound_graph::slot_value::home;

    void find_alive() {
        for (const auto& s : b_.slots) {
            const bool in_arena = s.where == home::arena || s.where == home::scratch;
            if (!in_arena || s.space != &space_ || s.bytes == 0 || s.first < 0 || s.in_place_of >= 0) continue;
            const int last = std::min(s.last, static_cast<int>(b_.steps.size()) - 1);
            for (int k = s.first; k <= last; ++k) alive_[k] += aligned_size(s.bytes);
        }
    }
    void find_gaps() {
        std::vector<char> is_fetched(b_.slots.size());
        for (const auto& f : b_.graph.fetches) is_fetched[b_.slot_of(f)] = 1;
        std::vector<int> last_use(b_.slots.size(), -1);
        for (std::size_t k = 0; k < b_.steps.size(); ++k)
            for (auto j = b_.steps[k].inputs; j < b_.steps[k].end; ++j) {
                const auto slot = b_.indices[j];
                const auto& s = b_.slots[slot];
                const int now = static_cast<int>(k), before = std::exchange(last_use[slot], now);
                const bool counts = s.where == home::arena && s.space == &space_ && s.bytes > 0 && !is_fetched[slot];
                if (counts && before >= 0 && now > before + 1)
                    gaps_.push_back({slot, before, now, aligned_size(s.bytes)});
            }
    }
    /// Adds the swaps of a slot: one for each value in it that is read later, since a slot may hold a value and a reshaped one.
    void add(const gap& g, std::vector<swapped_value>& all) const {
        const int leaves = first_items_[g.from + 1], returns = first_items_[g.to];
        std::map<std::pair<int, int>, swapped_value> found;
        for (std::size_t i = 0; i < b_.graph.items.size(); ++i) {
            const auto& it = b_.graph.items[i];
            const bool is_late = step_of_[i] < 0 ? static_cast<int>(i) >= returns : step_of_[i] >= g.to;
            const auto unread = it.shape_only_inputs();
            for (std::size_t k = 0; is_late && k < it.inputs.size(); ++k) {
                const auto& v = it.inputs[k];
                if (b_.slot_of(v) != g.slot || v.item >= returns || it.writes(k) ||
                    detail::contains(unread, static_cast<std::int32_t>(k)))
                    continue;
                auto& swap = found[{v.item, v.port}];
                swap.value = v;
                swap.leaves = std::max(leaves, v.item + 1);
                swap.returns = returns;
                swap.readers.push_back({static_cast<int>(i), k});
            }
        }
        for (auto& [value, swap] : found) all.push_back(std::move(swap));
    }

    const bound_graph& b_;
    const memory_space& space_;
    std::vector<int> step_of_;       // per item; -1: none
    std::vector<int> first_items_;   // per step
    std::vector<std::size_t> alive_; // per step: bytes
    vector<gap> gaps_;
};

RILL_COLD std::vector<swapped_value> find_swaps(const bound_graph& b, const memory_space& space, std::size_t most) {
    return swap_finder(b, space).run(most);
}

/// Returns the bytes that a step may take of a memory. Runs take some more: for error records, new versions of variables, and bodies.
inline std::size_t room_in(const memory_space& m) {
    const auto asks = m.largest_block ? m.largest_block : m.free_bytes;
    const std::size_t free = asks ? asks(m) : m.bytes > 0 ? m.bytes : bound_graph::npos;
    constexpr std::size_t most_kept = std::size_t(1) << 20;
    return free - std::min(free / 32, most_kept);
}

RILL_COLD bound_graph fit_memory(bound_graph b, const std::function<bound_graph(const subgraph&)>& bind) {
    std::map<const memory_space*, std::size_t> rooms;
    for (const auto& a : b.arenas)
        if (a.space) rooms[a.space] = room_in(*a.space);
    const auto exceeding = [&] {
        return detail::find_if(b.arenas, [&](const auto& a) { return a.space && a.bytes > rooms.at(a.space); });
    };
    if (exceeding() == b.arenas.end()) return b;
    const subgraph whole = b.graph;
    constexpr int rounds = 16;
    for (int round = 0; round < rounds; ++round) {
        const auto at = exceeding();
        if (at == b.arenas.end()) return b;
        swap_finder finder(b, *at->space);
        const std::size_t room = rooms.at(at->space);
        const std::size_t gaps = at->bytes - std::min(finder.most_alive(), at->bytes); // between the values
        const auto swaps = gaps < room ? std::move(finder).run(room - gaps) : std::vector<swapped_value>();
        if (swaps.empty()) break;
        b = bind(insert_swaps(b.graph, swaps));
    }
    return exceeding() == b.arenas.end() ? std::move(b) : bind(whole);
}

}}} // namespace rill::RILL_ABI::detail
