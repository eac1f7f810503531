// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/prune.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the node that reads `e` in a body or in nested bodies; null if there is none.
inline const node* reader_in(const body& b, const endpoint& e) {
    for (const auto* n : e.from->owner->nodes_of(b.of)) {
        if (detail::contains(n->inputs, e)) return n;
        if (!n->bodies) continue;
        for (const auto& inner : *n->bodies) {
            if (detail::contains(inner.results, e)) return n;
            if (const auto* reader = reader_in(inner, e)) return reader;
        }
    }
    return nullptr;
}

/// Throws invalid_argument if a body reads the fed constant. Bodies are compiled with the constant's value, so the feed would not
/// reach them.
inline void refuse_fed_constant(const endpoint& e, std::span<const node* const> needed) {
    for (const auto* n : needed) {
        if (!n->bodies) continue;
        for (const auto& b : *n->bodies) {
            if (b.functionalized) { // the body captures the fed constant; the bodies of its nodes don't
                refuse_fed_constant(e, nodes_in(b, *n->owner));
                continue;
            }
            const bool given = detail::contains(b.results, e);
            const auto* reader = given ? n : reader_in(b, e);
            if (reader)
                throw invalid_argument("constant '" + e.from->name + "' (" + to_string(e.from->outputs[0]) +
                                       ", made at " + to_string(e.from->where) + ") is fed, but '" + reader->name +
                                       "' (made at " + to_string(reader->where) + ") in a body of '" + n->name +
                                       "' reads it as it is: make it a placeholder, or take identity() of it outside");
        }
    }
}

} // namespace detail

RILL_COLD subgraph prune(std::span<const endpoint> fetches, std::span<const node* const> targets,
                         std::span<const endpoint> feeds, const region* within,
                         const detail::functionalized_graph* flow) {
    subgraph g;
    g.feeds.assign(feeds.begin(), feeds.end());
    const auto called = [&](const endpoint& e) { return flow ? flow->of(e) : e; };
    const auto stands_for = [&](const node* n) { return flow ? flow->of(n) : n; };
    const auto waits_for = [&](const node* c) { return flow ? flow->waits_for(c) : c->inside == within; };
    const auto fed = [&](const endpoint& e) {
        const auto at = detail::find(feeds, e);
        return at == feeds.end() ? -1 : static_cast<int>(at - feeds.begin());
    };

    std::vector<const node*> needed, open;
    enum { unseen = -2, seen = -1 };
    std::vector<int> items; // by node id
    const auto item_of = [&](const node* n) -> int& {
        if (n->id >= items.size()) items.resize(n->id + 1, unseen);
        return items[n->id];
    };
    const auto need = [&](const node* n) {
        if (item_of(n) != unseen) return;
        item_of(n) = seen;
        needed.push_back(n);
        open.push_back(n);
    };
    const auto take = [&](const endpoint& e) {
        if (const auto by = called(e); fed(by) < 0) need(by.from);
    };
    for (const auto& f : fetches) take(f);
    for (const auto* t : targets) need(stands_for(t));
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        for (const auto& e : n->inputs) take(e);
        for (const auto* c : n->control_inputs)
            if (waits_for(c)) need(stands_for(c));
    }
    detail::sort(needed, [](const node* a, const node* b) { return a->id < b->id; });
    if (!within)
        for (const auto& e : feeds)
            if (e.from->op->role() == op_role::constant) detail::refuse_fed_constant(e, needed);

    g.items.reserve(feeds.size() + needed.size());
    for (std::size_t i = 0; i < feeds.size(); ++i) {
        subgraph::item it;
        it.feed = static_cast<int>(i);
        g.items.push_back(std::move(it));
    }
    const auto value_of = [&](const endpoint& e) -> subgraph::value {
        const auto by = called(e);
        if (const int f = fed(by); f >= 0) return {f, 0};
        return {item_of(by.from), by.port};
    };
    auto place = static_cast<int>(feeds.size());
    for (const auto* n : needed) {
        // a fed placeholder may still be a control input: its feed replaces it
        const bool fed_itself = n->op->role() == op_role::placeholder && fed({n, 0}) >= 0;
        if (n->op->role() == op_role::placeholder && !fed_itself)
            throw invalid_argument("placeholder '" + n->name + "' (" + to_string(n->outputs[0]) + ", made at " +
                                   to_string(n->where) + ") is needed but was not fed");
        item_of(n) = fed_itself ? fed({n, 0}) : place++;
    }
    for (const auto* n : needed) {
        if (item_of(n) < static_cast<int>(feeds.size())) continue;
        subgraph::item it;
        it.origin = n;
        it.op = n->op;
        for (const auto& e : n->inputs) it.inputs.push_back(value_of(e));
        for (const auto* c : n->control_inputs)
            if (waits_for(c)) it.after.push_back(item_of(stands_for(c)));
        g.items.push_back(std::move(it));
    }
    for (const auto& f : fetches) g.fetches.push_back(value_of(f));
    for (const auto* t : targets) g.targets.push_back(item_of(stands_for(t)));
    return g;
}

}} // namespace rill::RILL_ABI
