// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/insert_copies.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>
#include <rill/passes/needed_items.hpp>
#include <rill/passes/order.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

class copy_inserter {
public:
    copy_inserter(subgraph g, const device* fetches)
        : g_(std::move(g)), fetches_(fetches), now_(g_.items.size(), -1), variable_(g_.items.size(), -1),
          wanted_(g_.items.size()) {
        for (std::size_t i = 0; i < g_.items.size(); ++i) {
            note_variable(i);
            each_input(g_.items[i], [&](subgraph::value& v, const device* to) {
                if (g_.items[v.item].feed >= 0) wanted_[v.item].push_back(to);
            });
        }
    }

    subgraph run() && {
        for (std::size_t i = 0; i < g_.items.size(); ++i) {
            auto it = std::move(g_.items[i]);
            for (auto& a : it.after) a = now_[a];
            each_input(it, [&](subgraph::value& v, const device* to) { v = moved(v, to, it.after); });
            for (const int k : it.shape_only_inputs()) it.inputs[k].item = now_[it.inputs[k].item];
            if (it.op)
                for (const int k : it.op->writes()) write(it.inputs[k]);
            now_[i] = static_cast<int>(items_.size());
            items_.push_back(std::move(it));
            // copy a feed at once: a fusion group may begin with any of its readers
            for (const auto* to : wanted_[i]) moved({static_cast<int>(i), 0}, to, {});
        }
        for (auto& f : g_.fetches) f = moved(f, fetches_, {});
        for (auto& t : g_.targets) t = now_[t];
        g_.items = std::move(items_);
        return std::move(g_);
    }

private:
    /// Calls f(value, device in whose memory it is needed) for each input that is read and not written.
    template <class F> static void each_input(subgraph::item& it, const F& f) {
        const auto unread = it.shape_only_inputs();
        for (std::size_t k = 0; k < it.inputs.size(); ++k)
            if (!it.writes(k) && !detail::contains(unread, static_cast<std::int32_t>(k)))
                f(it.inputs[k], it.input_device(k));
    }
    static const memory_space* space_of(const device* d) { return d ? d->space : nullptr; }

    void note_variable(std::size_t i) {
        const auto& it = g_.items[i];
        if (g_.role(static_cast<int>(i)) == op_role::variable)
            variable_[i] = static_cast<int>(i);
        else if (it.gives_written(0))
            variable_[i] = variable_[it.inputs[it.op->alias()].item];
    }

    /// Updates an input that is written, and drops the copies of its variable: later readers need the new value.
    void write(subgraph::value& v) {
        if (const int variable = variable_[v.item]; variable >= 0) {
            const auto first = [&](int item) {
                return copies_.lower_bound(std::tuple(item, -1, static_cast<const memory_space*>(nullptr)));
            };
            const int now = now_[variable];
            copies_.erase(first(now), first(now + 1));
        }
        v.item = now_[v.item];
    }

    /// Returns the value in the memory of a device (null: the host's), copied if necessary. One copy serves all readers there. The
    /// copy of a variable serves until the next write: that write waits for each of its readers.
    subgraph::value moved(const subgraph::value& v, const device* to, const small_vector<int, 4>& after) {
        const auto old = static_cast<std::size_t>(v.item);
        const subgraph::value here{now_[old], v.port};
        const auto* space = space_of(to);
        if (items_[here.item].output_memory(here.port) == space) return here;
        const bool varies = v.port == 0 && variable_[old] >= 0;
        const subgraph::value source = varies ? subgraph::value{now_[variable_[old]], 0} : here;
        const auto [known, fresh] = copies_.try_emplace(std::tuple(source.item, source.port, space));
        if (fresh) {
            subgraph::item copy;
            copy.device = space ? to : nullptr;
            copy.inputs = {here};
            if (varies) copy.after = after;
            known->second = {static_cast<int>(items_.size()), 0};
            items_.push_back(std::move(copy));
        }
        return known->second;
    }

    subgraph g_;
    const device* fetches_;
    vector<subgraph::item> items_;
    std::vector<int> now_;
    std::vector<int> variable_;            // per old item: the variable that it is, or returns after a write
    vector<vector<const device*>> wanted_; // per old item, a feed: the devices that need it
    std::map<std::tuple<int, int, const memory_space*>, subgraph::value> copies_;
};

/// Moves feeds to the front. Their copies to a device then come before its kernels, which it can capture as one range.
inline subgraph with_feeds_first(subgraph g) {
    std::vector<int> order(g.items.size());
    std::iota(order.begin(), order.end(), 0);
    const auto is_first = [&](int i) { return g.items[i].feed >= 0 && g.items[i].after.empty(); };
    detail::sort(order, [&](int a, int b) { return is_first(a) && !is_first(b); });
    return detail::reordered(std::move(g), order);
}

/// Returns true if the item copies a value from the memory of one device to that of another one.
inline bool joins_devices(const subgraph& g, const subgraph::item& it) {
    const auto* from = it.is_copy() ? g.items[it.inputs[0].item].output_memory(it.inputs[0].port) : nullptr;
    return from && it.memory() && from != it.memory();
}

/// A search for copies between devices that move to the front.
class copy_hoister {
public:
    copy_hoister(const subgraph& g, const cost_model& costs, const std::function<double(const memory_space*)>& room)
        : g_(g), costs_(costs), room_(room), moves_(g.items.size()) {}

    /// Returns for each item whether it moves.
    std::vector<char> run() && {
        for (int i = 0; i < static_cast<int>(g_.items.size()); ++i) {
            const auto& it = g_.items[i];
            if (joins_devices(g_, it)) consider(i);
            if (it.memory() && !moves_[i]) loads_[it.memory()].stays += microseconds(i);
        }
        return std::move(moves_);
    }

private:
    /// The work and the values of the items so far in one memory.
    struct load {
        double stays = 0, moves = 0; // microseconds of work
        double bytes = 0;            // of values that are computed earlier
    };

    const memory_space* memory(int i) const { return g_.items[i].memory(); }
    /// Returns true for an item whose value is there when the run begins.
    bool is_source(int i) const {
        const auto& it = g_.items[i];
        return it.after.empty() && (it.feed >= 0 || g_.role(i) == op_role::constant || g_.role(i) == op_role::variable);
    }
    double microseconds(int i) const {
        const auto& it = g_.items[i];
        if (!it.is_copy()) return it.device ? costs_.microseconds(g_, i, *it.device) : 0;
        const auto& from = it.inputs[0];
        return costs_.transfer_microseconds(costs_.bytes(g_, from), g_.items[from.item].device, it.device);
    }
    double bytes(int i) const {
        const auto& it = g_.items[i];
        if (is_source(i)) return 0; // they are there in any case
        if (it.is_copy()) return costs_.bytes(g_, it.inputs[0]);
        double all = 0;
        for (int port = 0; port < static_cast<int>(it.origin->outputs.size()); ++port)
            all += costs_.bytes(g_, {i, port});
        return all;
    }
    /// Adds an item and those that it needs, unless they move already. Returns false if one of them can't move.
    bool collect(int i, std::vector<int>& all) const {
        constexpr std::size_t most = 64; // bounds the search
        if (moves_[i] || detail::contains(all, i)) return true;
        const auto& it = g_.items[i];
        all.push_back(i);
        if (is_source(i)) return true;
        // a value of unknown extents may be larger than it is estimated
        const auto is_known = [](const tensor_type& t) { return t.shape.complete(); };
        return all.size() <= most && is_pure(g_, i) && memory(i) && it.after.empty() &&
               (!it.origin || detail::all_of(it.origin->outputs, is_known)) &&
               detail::all_of(it.inputs, [&](const auto& v) { return collect(v.item, all); });
    }
    /// Moves a copy and what it needs if that pays.
    void consider(int copy) {
        const auto& source = g_.items[copy].inputs[0];
        const auto* made_by = g_.items[source.item].origin;
        std::vector<int> all;
        if (!made_by || !made_by->output(source.port).shape.complete() || !collect(copy, all)) return;
        const auto* const from = memory(source.item);
        load here = loads_[from];
        for (const int i : all) {
            here.moves += microseconds(i);
            if (i != copy && memory(i) == from) here.stays -= microseconds(i);
        }
        constexpr double least_gain = 4, share_of_room = 0.125;
        if (here.stays < least_gain * here.moves) return;
        auto changed = loads_;
        changed[from].moves = here.moves;
        for (const int i : all) {
            if (!memory(i)) continue;
            auto& there = changed[memory(i)];
            if (i != copy) there.stays -= microseconds(i);
            there.bytes += bytes(i);
            if (there.bytes > share_of_room * room_(memory(i))) return;
        }
        loads_ = std::move(changed);
        for (const int i : all) moves_[i] = 1;
    }

    const subgraph& g_;
    const cost_model& costs_;
    const std::function<double(const memory_space*)>& room_;
    std::vector<char> moves_; // per item
    hash_map<const memory_space*, load> loads_;
};

} // namespace detail

RILL_COLD subgraph insert_copies(subgraph g, const device* fetches) {
    const bool one_memory =
        detail::none_of(g.items, [](const subgraph::item& it) { return it.device && it.device->space; });
    if (one_memory && !(fetches && fetches->space)) return g;
    const auto captures = [](const subgraph::item& it) { return it.memory() && it.memory()->capture; };
    if (detail::any_of(g.items, captures)) g = detail::with_feeds_first(std::move(g));
    return detail::copy_inserter(std::move(g), fetches).run();
}

RILL_COLD subgraph insert_swaps(subgraph g, std::span<const swapped_value> swaps) {
    const std::size_t count = g.items.size();
    std::vector<std::vector<std::size_t>> leaving(count), returning(count);
    std::map<std::pair<int, std::size_t>, std::size_t> swap_of; // per reader
    for (std::size_t s = 0; s < swaps.size(); ++s) {
        leaving[static_cast<std::size_t>(swaps[s].leaves)].push_back(s);
        returning[static_cast<std::size_t>(swaps[s].returns)].push_back(s);
        for (const auto& r : swaps[s].readers) swap_of[r] = s;
    }
    std::vector<int> now(count), here(swaps.size(), -1); // per swap: the item that holds the value
    detail::vector<subgraph::item> items;
    const auto copy = [&](const subgraph::value& from, const device* to) {
        subgraph::item made;
        made.device = to;
        made.inputs = {from};
        items.push_back(std::move(made));
        return static_cast<int>(items.size()) - 1;
    };
    for (std::size_t i = 0; i < count; ++i) {
        for (const auto s : leaving[i]) here[s] = copy({now[swaps[s].value.item], swaps[s].value.port}, nullptr);
        for (const auto s : returning[i]) {
            const auto& value = swaps[s].value;
            here[s] = copy({here[s], 0}, items[now[value.item]].output_device(value.port));
        }
        auto it = std::move(g.items[i]);
        for (std::size_t k = 0; k < it.inputs.size(); ++k) {
            const auto swapped = swap_of.find({static_cast<int>(i), k});
            if (swapped != swap_of.end())
                it.inputs[k] = {here[swapped->second], 0};
            else
                it.inputs[k].item = now[it.inputs[k].item];
        }
        for (auto& a : it.after) a = now[a];
        now[i] = static_cast<int>(items.size());
        items.push_back(std::move(it));
    }
    for (auto& f : g.fetches) f.item = now[f.item];
    for (auto& t : g.targets) t = now[t];
    g.items = std::move(items);
    return g;
}

RILL_COLD subgraph hoist_copies(subgraph g, const cost_model& costs,
                                const std::function<double(const memory_space*)>& room) {
    const auto joins = [&](const subgraph::item& it) { return detail::joins_devices(g, it); };
    // under a lock, variables are read at their turn
    const auto is_ordered = [](const subgraph::item& it) { return it.op && it.op->ordering() != step_ordering::none; };
    if (detail::none_of(g.items, joins) || detail::any_of(g.items, is_ordered)) return g;
    const auto moves = detail::copy_hoister(g, costs, room).run();
    std::vector<int> order;
    for (const bool first : {true, false})
        for (std::size_t i = 0; i < moves.size(); ++i)
            if ((moves[i] != 0) == first) order.push_back(static_cast<int>(i));
    return detail::reordered(std::move(g), order);
}

}} // namespace rill::RILL_ABI
