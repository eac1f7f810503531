// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/graph/node.hpp>

namespace rill::inline RILL_ABI {

/// The part of a graph that one kind of run executes: what passes work on. Items are nodes, fed edges, or copies.
struct subgraph {
    /// A value within the subgraph: an item's output.
    struct value {
        int item = -1;
        int port = 0;
        friend bool operator==(const value&, const value&) = default;
    };

    struct item {
        const node* origin = nullptr; // null: a fed edge, or a copy
        int feed = -1;                // which feed it stands for
        std::vector<value> inputs;
        std::vector<int> after;       // items that run before it beside its inputs
        bool is_copy() const { return !origin && feed < 0; }
    };

    std::vector<item> items; // every input and `after` points to an item that runs earlier, once ordered
    std::vector<value> fetches;
    std::vector<endpoint> feeds;
    std::vector<int> targets; // items run for their effect

    std::string name_of(int i) const {
        const auto& it = items[static_cast<std::size_t>(i)];
        if (it.origin) return it.origin->name;
        return it.feed >= 0 ? "feed of " + rill::name_of(feeds[static_cast<std::size_t>(it.feed)]) : "copy";
    }
    op_role role(int i) const {
        const auto* n = items[static_cast<std::size_t>(i)].origin;
        return n ? n->op->role() : op_role::ordinary;
    }
};

/// Throws `internal` if a pass left the subgraph malformed. Run after each pass in debug builds.
inline void check(const subgraph& g, bool ordered) {
    const int n = static_cast<int>(g.items.size());
    const auto valid = [&](int from, int to) {
        if (from < 0 || from >= n || (ordered && to >= 0 && from >= to))
            throw internal("passes: item " + std::to_string(to) + " depends on item " + std::to_string(from));
    };
    for (int i = 0; i < n; ++i) {
        for (const auto& v : g.items[static_cast<std::size_t>(i)].inputs) valid(v.item, i);
        for (const int a : g.items[static_cast<std::size_t>(i)].after) valid(a, i);
    }
    for (const auto& v : g.fetches) valid(v.item, -1);
    for (const int t : g.targets) valid(t, -1);
}

} // namespace rill::inline RILL_ABI
