// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/merge_region_variants.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD subgraph merge_region_variants(subgraph g) {
    detail::hash_map<const node*, int> kept; // by first variant: the item that runs
    std::vector<int> now(g.items.size());
    bool any = false;
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        now[i] = static_cast<int>(i);
        const node* n = g.items[i].origin;
        if (!n || !n->bodies) continue;
        const node* first = first_variant(*n);
        const auto [at, fresh] = kept.try_emplace(first, now[i]);
        if (fresh) continue;
        // all variants have the same inputs, so the place of the first one is late enough
        auto& runs = g.items[at->second];
        if (n->outputs.size() > runs.origin->outputs.size()) {
            runs.origin = n;
            runs.op = n->op;
        }
        now[i] = at->second;
        any = true;
    }
    if (!any) return g;
    std::size_t left = 0;
    std::vector<int> place(g.items.size());
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        if (now[i] != static_cast<int>(i)) continue;
        place[i] = static_cast<int>(left);
        if (left < i) g.items[left] = std::move(g.items[i]);
        ++left;
    }
    g.items.resize(left);
    const auto moved = [&](int i) { return place[now[i]]; };
    for (auto& it : g.items) {
        for (auto& v : it.inputs) v.item = moved(v.item);
        for (auto& a : it.after) a = moved(a);
    }
    for (auto& f : g.fetches) f.item = moved(f.item);
    for (auto& t : g.targets) t = moved(t);
    return g;
}

}} // namespace rill::RILL_ABI
