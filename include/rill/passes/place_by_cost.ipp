// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/place_by_cost.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/state_groups.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The memory of the values of a simulated run. Values of variables and constants are alive from the start, others until all readers have
/// run.
class simulated_memory {
public:
    /// Counts the values of a run. `room` returns the free bytes of a memory. Items for which `is_there` is true take no memory.
    simulated_memory(const subgraph& g, const cost_model& costs, std::function<double(const memory_space*)> room,
                     const std::function<bool(int)>& is_there)
        : room_(std::move(room)), bytes_(g.items.size()), readers_(g.items.size()), in_(g.items.size()) {
        for (std::size_t i = 0; i < g.items.size(); ++i) {
            const auto* n = g.items[i].origin; // null: a feed
            const std::size_t outputs = !n ? 1 : n->op->alias() < 0 ? n->outputs.size() : 0;
            for (std::size_t port = 0; port < outputs && !is_there(static_cast<int>(i)); ++port)
                bytes_[i] += costs.bytes(g, {static_cast<int>(i), static_cast<int>(port)});
            if (n && n->op->role() != op_role::ordinary) ++readers_[i]; // the value stays alive
            for (const auto& v : g.items[i].inputs) ++readers_[static_cast<std::size_t>(v.item)];
        }
    }

    /// Returns true if a device's memory has room for the outputs of an item and copies of its inputs.
    bool fits(const subgraph& g, int item, const device& d) {
        double wanted = bytes_[static_cast<std::size_t>(item)];
        for (const auto& v : g.items[item].inputs)
            if (in_[static_cast<std::size_t>(v.item)] != d.space) wanted += bytes_[static_cast<std::size_t>(v.item)];
        const auto at = used_.find(d.space);
        const auto [left, is_new] = left_.try_emplace(d.space, 0.);
        if (is_new) left->second = room_(d.space);
        return (at == used_.end() ? 0 : at->second) + wanted <= left->second;
    }
    /// Records that an item has run.
    void ran(const subgraph& g, int item, const device* on) {
        const auto i = static_cast<std::size_t>(item);
        in_[i] = on ? on->space : nullptr;
        used_[in_[i]] += bytes_[i];
        for (const auto& v : g.items[item].inputs)
            if (const auto of = static_cast<std::size_t>(v.item); --readers_[of] == 0) used_[in_[of]] -= bytes_[of];
    }

private:
    const std::function<double(const memory_space*)> room_;
    std::vector<double> bytes_; // bytes of the outputs, by item
    std::vector<int> readers_;
    std::vector<const memory_space*> in_;
    hash_map<const memory_space*, double> used_, left_;
};

/// A run in simulated time.
class simulated_run {
public:
    simulated_run(const subgraph& g, const cost_model& costs, std::function<double(const memory_space*)> room,
                  const std::function<bool(int)>& is_there)
        : g_(g), costs_(costs), edges_(g), memory_(g, costs, std::move(room), is_there), on_(g.items.size()),
          end_(g.items.size()), rank_(g.items.size()) {
        for (int i = static_cast<int>(g.items.size()); i-- > 0;) {
            const auto* d = g.items[i].device;
            double rest = 0;
            for (const int next : edges_.next(i)) rest = std::max(rest, rank_[next]);
            rank_[i] = rest + costs.microseconds(g, i, d ? *d : nominal_);
        }
    }

    /// Simulates the run of the items. `candidates(i)` returns the devices that item i may run on; `chosen(i, device)` is called with the
    /// choice.
    double run(const std::function<std::vector<const device*>(int)>& candidates,
               const std::function<void(int, const device*)>& chosen) {
        std::vector<int> missing(g_.items.size());
        const auto later = [&](int a, int b) { return std::pair(rank_[a], -a) < std::pair(rank_[b], -b); };
        std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
        for (int i = 0; i < static_cast<int>(g_.items.size()); ++i) {
            missing[i] = static_cast<int>(g_.items[i].inputs.size() + g_.items[i].after.size());
            if (missing[i] == 0) ready.push(i);
        }
        double all = 0;
        while (!ready.empty()) {
            const int i = ready.top();
            ready.pop();
            const device* best = nullptr;
            double first_end = 0;
            const auto all_devices = candidates(i);
            std::vector<const device*> with_room;
            for (const auto* d : all_devices)
                if (memory_.fits(g_, i, *d)) with_room.push_back(d);
            for (const auto* d : with_room.empty() ? all_devices : with_room)
                if (const double end = end_on(i, d); !best || end < first_end) best = d, first_end = end;
            memory_.ran(g_, i, best);
            on_[i] = best;
            end_[i] = best ? first_end : 0;
            if (best && costs_.microseconds(g_, i, *best) > 0) free_[best] = end_[i];
            chosen(i, best);
            all = std::max(all, end_[i]);
            for (const int next : edges_.next(i))
                if (--missing[next] == 0) ready.push(next);
        }
        return all;
    }

private:
    double end_on(int i, const device* d) {
        double start = 0;
        for (const auto& v : g_.items[i].inputs)
            start = std::max(start, end_[v.item] + costs_.transfer_microseconds(costs_.bytes(g_, v), on_[v.item], d));
        for (const int a : g_.items[i].after) start = std::max(start, end_[a]);
        const double takes = costs_.microseconds(g_, i, *d);
        if (takes > 0)
            if (const auto at = free_.find(d); at != free_.end()) start = std::max(start, at->second);
        return start + takes;
    }

    const subgraph& g_;
    const cost_model& costs_;
    const item_edges edges_;
    simulated_memory memory_;
    const device nominal_{&cpu_device()};
    std::vector<const device*> on_; // per item
    std::vector<double> end_, rank_;
    hash_map<const device*, double> free_; // per device: the time when it becomes idle
};

/// Returns the sets of items that must run on one device: those that share state, and colocated ones.
inline state_groups device_groups(const subgraph& g) {
    state_groups made(g);
    hash_map<const node*, int> together; // by the node that others are colocated with: one of these items
    for (int i = 0; i < static_cast<int>(g.items.size()); ++i)
        if (const auto* n = g.items[i].origin; n && n->colocated)
            if (const auto [at, is_new] = together.try_emplace(&placed_with(*n), i); !is_new) made.unite(g, i, at->second);
    if (together.empty()) return made;
    for (int i = 0; i < static_cast<int>(g.items.size()); ++i)
        if (const auto at = together.find(g.items[i].origin); at != together.end()) made.unite(g, i, at->second);
    return made;
}

/// A search for the devices of the items of a run.
class placement_search {
public:
    placement_search(const subgraph& g, placement& where, bool moves)
        : g_(g), where_(where), moves_(moves), groups_(device_groups(g)), members_(g.items.size()),
          chosen_(g.items.size()), open_(g.items.size(), -1) {
        for (int i = 0; i < static_cast<int>(g.items.size()); ++i)
            if (g.items[i].origin) members_[groups_.first(i)].push_back(i);
    }

    /// Returns the devices that the item may run on.
    std::vector<const device*> candidates(int i) {
        const auto* n = g_.items[i].origin;
        if (!n) return {};
        const int first = groups_.first(i);
        if (const auto* d = chosen_[first]; d && where_.can_run(*n, *d)) return {d};
        if (chosen_[first]) return {&where_.device_of(*n)}; // host code beside a node of another device
        for (const int m : members_[first])
            if (!is_open(m)) return {&where_.device_of(*g_.items[m].origin)};
        std::vector<const device*> all;
        for (const auto* d : where_.devices().all())
            if (all_of(members_[first], [&](int m) { return where_.can_run(placed_with(*g_.items[m].origin), *d); }))
                all.push_back(d);
        return all.empty() ? std::vector{&where_.device_of(*n)} : all;
    }

    /// Chooses a device for the item and all items that must be on the same device.
    void choose(int i, const device* d) {
        const int first = groups_.first(i);
        if (!d || chosen_[first]) return;
        chosen_[first] = d;
        std::vector<const node*> open;
        for (const int m : members_[first])
            if (const node& n = *g_.items[m].origin; n.op->role() != op_role::constant && is_open(m)) open.push_back(&n);
        for (const auto* n : open) {
            const node& beside = placed_with(*n);
            if (&beside != n && (where_.is_free(beside) || (moves_ && where_.may_move(beside)))) where_.choose(beside, *d);
            where_.choose(*n, *d);
        }
    }

private:
    /// Returns true if a placer could choose the device of an item's node when first called for it.
    bool is_open(int i) {
        const node& n = *g_.items[i].origin;
        if (open_[i] < 0) open_[i] = where_.is_free(n) || (moves_ && where_.may_move(n)) ? 1 : 0;
        return open_[i] > 0;
    }

    const subgraph& g_;
    placement& where_;
    const bool moves_;
    state_groups groups_;
    std::vector<std::vector<int>> members_; // by first item
    std::vector<const device*> chosen_;     // by first item
    std::vector<signed char> open_;         // by item; -1: not asked for yet
};

} // namespace detail

RILL_COLD void place_by_cost(const subgraph& g, placement& where, const cost_model& costs) {
    detail::placement_search made(g, where, costs.has_measured());
    const auto is_there = [&](int i) {
        const auto* n = g.items[i].origin;
        return n && n->op->role() == op_role::variable && where.is_placed(*n);
    };
    const auto& host = where.devices().cpu();
    const bool one_task =
        detail::all_of(where.devices().all(), [&](const device* d) { return detail::same_task(*d, host); });
    const auto room = [&](const memory_space* m) { // unknown for other tasks
        return one_task ? where.free_bytes(m) : std::numeric_limits<double>::infinity();
    };
    detail::simulated_run(g, costs, room, is_there)
        .run([&](int i) { return made.candidates(i); }, [&](int i, const device* d) { made.choose(i, d); });
}

RILL_COLD double simulated_microseconds(const subgraph& g, const cost_model& costs) {
    const auto there = [&](int i) {
        const auto* d = g.items[i].device;
        return d ? std::vector<const device*>{d} : std::vector<const device*>();
    };
    const auto no_limit = [](const memory_space*) { return std::numeric_limits<double>::infinity(); };
    return detail::simulated_run(g, costs, no_limit, [](int) { return false; })
        .run(there, [](int, const device*) {});
}

}} // namespace rill::RILL_ABI
