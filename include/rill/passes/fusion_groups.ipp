// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/fusion_groups.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/device/block.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A search for fusion groups, in one pass over the items. The items must be in an order in which they can run.
class fusion_group_finder {
public:
    fusion_group_finder(const subgraph& g, std::span<const std::vector<tensor_type>> types,
                        std::span<const char> folded)
        : graph_(g), types_(types), folded_(folded), first_(g.items.size()) {
        std::iota(first_.begin(), first_.end(), 0);
    }

    std::vector<int> run() && {
        for (int i = 0; i < static_cast<int>(first_.size()); ++i) {
            auto here = group_of_one(i);
            if (!here) continue;
            if (here->space.size() == 1) {
                join_scalar_group(i);
                continue;
            }
            groups_.try_emplace(i, std::move(*here));
            for (const int before : producers(i))
                if (join(i, before)) break;
        }
        return std::move(first_);
    }

private:
    struct group {
        dims space;
        std::size_t operands; // at most: leaves and results of its members
        const rill::device* device;
        std::vector<int> items;
    };

    const subgraph::item& item(int i) const { return graph_.items[i]; }
    int first(int i) const { return first_[i]; }
    const tensor_type& type_of(const subgraph::value& v) const { return types_[v.item][v.port]; }

    /// Returns the group that the item would form alone; nothing if it can't be a member.
    std::optional<group> group_of_one(int i) const {
        const auto& it = item(i);
        const fused_spec* spec = it.origin && it.op ? it.op->fused() : nullptr;
        if (!spec || folded_[i]) return {};
        if (divides_integers(*spec->body)) return {}; // an error must name its own node
        std::vector<tensor_type> in;
        for (const auto& v : it.inputs) in.push_back(type_of(v));
        const dims space = fused_space(*spec, in).shape;
        if (space.size() == 0) return {};
        // a wide result is reduced by fewer threads than can compute the other members
        constexpr index_t block_of_threads = 1 << 16;
        for (std::size_t r = 0; r < spec->results.size(); ++r)
            if (const auto& shape = types_[i][r].shape;
                shape != space && space.size() > block_of_threads && shape.size() * 64 > space.size())
                return {};
        return group{space, spec->leaves.size() + spec->results.size(), it.device, {i}};
    }

    /// Returns true if the item can read a value block by block: one per element of the space, in the elements' order.
    bool flows(const subgraph::value& v, const fused_spec& reader, int input, const dims& space) const {
        const auto& result = item(v.item).op->fused()->results[v.port];
        if (result.reduce.how != combine::map || type_of(v).shape != space) return false;
        return detail::all_of(reader.leaves,
                              [&](const fused_leaf& l) { return l.input != input || l.view.how == combine::map; });
    }

    /// Returns the groups of the item's producers, in order.
    std::vector<int> producers(int i) const {
        std::vector<int> all;
        for (const auto& v : item(i).inputs)
            if (groups_.contains(first(v.item))) all.push_back(first(v.item));
        detail::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    /// Adds the item to an earlier group, together with those groups of its other producers that begin later. Returns false and
    /// changes nothing if shapes or devices differ, or if the operands are too many. The same holds if a member needs an item that
    /// runs after the start of that group.
    bool join(int i, int before) {
        std::vector<int> joining{i};
        for (const int p : producers(i))
            if (p > before) joining.push_back(p);
        const auto& to = groups_.at(before);
        std::size_t operands = to.operands;
        for (const int j : joining) {
            const auto& c = groups_.at(j);
            operands += c.operands;
            if (c.space != to.space || c.device != to.device || operands > most_operands) return false;
            for (const int member : c.items)
                if (!fits(member, before, joining)) return false;
        }
        for (const int j : joining) {
            for (const int member : groups_.at(j).items) first_[member] = before;
            auto items = std::move(groups_.at(j).items);
            auto& all = groups_.at(before).items;
            all.insert(all.end(), items.begin(), items.end());
        }
        groups_.at(before).operands = operands;
        return true;
    }

    /// Adds the item to a scalar group: the last group of its operands, else the last one begun, else a new one. Everything that the
    /// item needs must be ready where the group begins.
    void join_scalar_group(int i) {
        int before = -1;
        for (const auto& v : item(i).inputs)
            if (scalar_groups_.contains(first(v.item))) before = std::max(before, first(v.item));
        if (!joins_scalar_group(i, before)) before = joins_scalar_group(i, last_scalar_group_) ? last_scalar_group_ : i;
        if (before == i) last_scalar_group_ = i;
        first_[i] = before;
        auto& needed = scalar_groups_[before];
        for (const auto& v : item(i).inputs)
            if (!is_source(v.item)) needed.insert(first(v.item));
        for (const int a : item(i).after) needed.insert(first(a));
    }

    /// Returns true if the item can join a scalar group. An item that reads no member must need only what the members need: otherwise
    /// the group would wait for values that threads can compute in parallel to it.
    bool joins_scalar_group(int i, int before) const {
        if (before < 0) return false;
        const auto& it = item(i);
        const auto there = [&](int d) { return first(d) <= before || is_source(d); };
        const auto known = [&](int d) { return is_source(d) || scalar_groups_.at(before).contains(first(d)); };
        const auto all = [&](const auto& holds) {
            return detail::all_of(it.inputs, [&](const auto& v) { return holds(v.item); }) &&
                   detail::all_of(it.after, holds);
        };
        const auto inside = [&](const auto& v) { return first(v.item) == before; };
        return it.device == item(before).device && all(there) && (detail::any_of(it.inputs, inside) || all(known));
    }

    /// Returns true if everything that the item needs is ready where the group begins. A value may also flow to it within the
    /// group and those joining it.
    bool fits(int i, int before, const std::vector<int>& joining) const {
        const auto& it = item(i);
        const auto early = [&](int d) { return first(d) < before || is_source(d); };
        const auto inside = [&](int d) { return first(d) == before || detail::contains(joining, first(d)); };
        const dims& space = groups_.at(before).space;
        for (std::size_t k = 0; k < it.inputs.size(); ++k) {
            const auto& v = it.inputs[k];
            if (inside(v.item) ? !flows(v, *it.op->fused(), static_cast<int>(k), space) : !early(v.item)) return false;
        }
        return detail::all_of(it.after, early);
    }

    /// Returns true if the item has its value before the first step runs. An item with control inputs has not: a constant may follow a
    /// write.
    bool is_source(int i) const {
        if (!item(i).after.empty()) return false;
        return item(i).feed >= 0 || graph_.role(i) != op_role::ordinary || folded_[i];
    }

    const subgraph& graph_;
    std::span<const std::vector<tensor_type>> types_;
    std::span<const char> folded_;
    std::vector<int> first_;
    hash_map<int, group> groups_;                // by first member
    hash_map<int, hash_set<int>> scalar_groups_; // by first member: the items that a scalar group needs
    int last_scalar_group_ = -1;
};

RILL_COLD std::vector<int> find_fusion_groups(const subgraph& g, std::span<const std::vector<tensor_type>> types,
                                              std::span<const char> folded) {
    return fusion_group_finder(g, types, folded).run();
}

}}} // namespace rill::RILL_ABI::detail
