// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/partition.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/error.hpp>
#include <rill/passes/bundle_edges.hpp>
#include <rill/passes/insert_exchanges.hpp>
#include <rill/passes/schedule_receives.hpp>
#include <rill/passes/state_groups.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD int exchange_inserter::number_of(const device& d) {
    const auto at = detail::find(where_, &d);
    const auto number = static_cast<int>(at - where_.begin());
    if (at == where_.end()) where_.push_back(&d);
    return number;
}

RILL_COLD const device* exchange_inserter::host_of(const device& part) const {
    if (part.type == &cpu_device()) return &part;
    const auto& name = part.full;
    const auto* host = devices_.find({name.job, name.replica, name.task, cpu_device().name, -1});
    return host ? host : &devices_.cpu();
}

RILL_COLD subgraph exchange_inserter::run(subgraph g) {
    detail::exchange_insertion pass(*this, std::move(g));
    pass.find_homes();
    return pass.run();
}

RILL_COLD subgraph exchange_inserter::bundle(subgraph g) {
    return bundle_edges(std::move(g), edges_, wire_, takes_turns_);
}

RILL_COLD subgraph exchange_inserter::schedule(subgraph g, const cost_model& costs) {
    return schedule_receives(std::move(g), edges_, costs);
}

RILL_COLD placed_parts exchange_inserter::take_apart(const subgraph& g) {
    placed_parts made;
    made.edges = edges_;
    if (where_.empty()) where_.push_back(&devices_.cpu()); // only feeds and constants
    auto all = items_of_parts(g);
    for (std::size_t p = 0; p < all.size(); ++p) {
        auto& into = made.parts.emplace_back();
        static_cast<part_items&>(into) = std::move(all[p]);
        into.where = where_[p];
    }
    return made;
}

RILL_COLD std::vector<part_items> exchange_inserter::items_of_parts(const subgraph& g,
                                                                    const std::vector<int>* fetch_parts) const {
    std::vector<part_items> made(where_.size());
    std::map<std::pair<int, int>, int> local; // by part and item
    std::vector<int> parts(g.items.size(), -1);
    const auto here = [&](int p, int i) {
        auto& into = made[static_cast<std::size_t>(p)];
        const auto [at, fresh] = local.try_emplace({p, i}, static_cast<int>(into.steps.items.size()));
        if (!fresh) return at->second;
        auto it = g.items[i];
        if (it.feed >= 0) {
            into.feeds.push_back(it.feed);
            into.steps.feeds.push_back(g.feeds[static_cast<std::size_t>(it.feed)]);
            it.feed = static_cast<int>(into.feeds.size()) - 1;
        }
        into.steps.items.push_back(std::move(it));
        return at->second;
    };
    detail::number_sets sets;
    std::vector<int> writes(g.items.size()); // per item: the writes that it waits for
    for (int i = 0; i < static_cast<int>(g.items.size()); ++i) {
        if (detail::is_repeated(g, i)) continue;
        auto it = g.items[i];
        for (const auto& v : it.inputs) writes[i] = sets.join(writes[i], writes[v.item]);
        for (const int a : it.after) writes[i] = sets.join(writes[i], writes[a]);
        const int p = parts[i] = it.is_copy() ? parts[it.inputs[0].item] : it.part;
        if (p < 0) throw internal("partition: " + g.name_of(i) + " belongs to no part");
        for (auto& v : it.inputs) v.item = here(p, v.item);
        const auto after = std::exchange(it.after, {});
        for (const int a : after)
            if (parts[a] == p) it.after.push_back(here(p, a)); // parts have all feeds; a Send elsewhere is received
        // A part does not see the dependencies of its items through other parts. For writes in the part, the items that wait for other
        // parts carry these dependencies: Receives, and shares of partitioned nodes.
        if (it.share || (it.edge >= 0 && it.op->is_async()))
            for (const int w : sets.members(writes[i]))
                if (parts[w] == p) it.after.push_back(here(p, w));
        if (it.is_write()) writes[i] = sets.join(writes[i], sets.number_of({i}));
        auto& into = made[static_cast<std::size_t>(p)].steps;
        local[{p, i}] = static_cast<int>(into.items.size());
        if (it.edge >= 0 && !it.op->is_async()) into.targets.push_back(static_cast<int>(into.items.size())); // a Send
        into.items.push_back(std::move(it));
    }
    for (std::size_t f = 0; f < g.fetches.size(); ++f) {
        const auto& v = g.fetches[f];
        const int p = fetch_parts ? (*fetch_parts)[f] : std::max(parts[v.item], 0); // any part has a feed or a constant
        auto& into = made[static_cast<std::size_t>(p)];
        into.fetches.push_back(static_cast<int>(f));
        into.steps.fetches.push_back({here(p, v.item), v.port});
    }
    for (const int t : g.targets)
        if (parts[t] >= 0) made[static_cast<std::size_t>(parts[t])].steps.targets.push_back(local.at({parts[t], t}));
    return made;
}

}} // namespace rill::RILL_ABI
