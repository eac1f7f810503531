// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/control_flow/loops/region_scalars.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/device/device.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A translator of a bound graph's steps into one fusion group of scalars.
class region_scalars_finder {
public:
    explicit region_scalars_finder(const bound_graph& b) : b_(b) {
        for (std::size_t f = 0; f < b.feed_slots.size(); ++f) input(b.feed_slots[f], static_cast<int>(f), {});
        for (const auto& v : b.folded_values) input(v.slot, -1, v.value);
        for (std::size_t i = 0; i < b.graph.items.size(); ++i)
            if (b.graph.role(static_cast<int>(i)) == op_role::constant)
                input(b.value_slot[i][0], -1, *b.graph.items[i].op->constant());
    }

    std::optional<region_scalars> run() && {
        if (!b_.variables.empty() || !b_.regions.empty()) return {};
        for (const auto& s : b_.steps) {
            const int group = b_.group_of[s.item];
            const std::span alone(&s.item, 1);
            if (!(group < 0 ? add(alone) : add(b_.fusion_groups[group].items))) return {};
        }
        for (const auto& f : b_.graph.fetches) {
            const auto from = source_of_.find(b_.slot_of(f));
            if (from == source_of_.end() || !is_number(b_.type_of(f))) return {};
            made_.fetches.push_back(from->second);
        }
        return std::move(made_);
    }

private:
    void input(int slot, int feed, const any_array& value) {
        source_of_[slot] = {-1, static_cast<int>(made_.inputs.size())};
        made_.inputs.push_back({feed, value});
    }

    bool add(std::span<const int> items) {
        return detail::all_of(items, [&](int i) { return add(i); });
    }
    bool add(int i) {
        const auto& it = b_.graph.items[i];
        const fused_spec* spec = it.origin ? it.op->fused() : nullptr;
        const auto& results = b_.types[i];
        if (!spec || divides_integers(*spec->body) || &it.runs_on() != &cpu_device() ||
            !detail::all_of(results, is_number))
            return false;
        fusion_group::member member;
        member.spec = spec;
        member.results.assign(results.size(), -1);
        for (const auto& v : it.inputs) {
            const auto from = source_of_.find(b_.slot_of(v));
            if (from == source_of_.end() || !is_number(b_.type_of(v))) return false;
            member.inputs.push_back(from->second);
        }
        const auto number = static_cast<int>(made_.group.members.size());
        for (std::size_t r = 0; r < results.size(); ++r)
            source_of_[b_.value_slot[i][r]] = {number, static_cast<int>(r)};
        made_.group.members.push_back(std::move(member));
        return true;
    }

    const bound_graph& b_;
    region_scalars made_;
    hash_map<int, fusion_group::source> source_of_; // per slot
};

RILL_COLD std::optional<region_scalars> numbers_of(const bound_graph& b) { return region_scalars_finder(b).run(); }

}}} // namespace rill::RILL_ABI::detail
