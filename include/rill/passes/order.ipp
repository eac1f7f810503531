// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/order.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace rill::inline RILL_ABI {

namespace detail {

RILL_INLINE item_edges::item_edges(const subgraph& g) : next_(g.items.size()) {
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        for (const auto& v : g.items[i].inputs) add(v.item, static_cast<int>(i));
        for (const int a : g.items[i].after) add(a, static_cast<int>(i));
    }
}

RILL_INLINE void item_edges::add(int from, int to) {
    const auto most = static_cast<std::size_t>(std::max(from, to)) + 1;
    if (next_.size() < most) next_.resize(most);
    next_[static_cast<std::size_t>(from)].push_back(to);
}

RILL_INLINE std::vector<char> item_edges::descendants(int from) const {
    std::vector<char> seen(next_.size());
    std::vector<int> open{from};
    while (!open.empty()) {
        const auto at = static_cast<std::size_t>(open.back());
        open.pop_back();
        for (const int n : next_[at])
            if (!std::exchange(seen[static_cast<std::size_t>(n)], char(1))) open.push_back(n);
    }
    return seen;
}

} // namespace detail

RILL_INLINE subgraph order_variables(subgraph g) {
    // the writes of each variable, in order of creation
    std::map<int, std::vector<int>> writes;
    for (int i = 0; i < static_cast<int>(g.items.size()); ++i) {
        const auto& it = g.items[static_cast<std::size_t>(i)];
        for (int k = 0; it.origin && k < it.op->writes(); ++k)
            writes[it.inputs[static_cast<std::size_t>(k)].item].push_back(i);
    }
    if (writes.empty()) return g;
    detail::item_edges edges(g);
    // what the user asked for, before any edge is added: it alone puts a use after a write
    const int count = static_cast<int>(g.items.size());
    std::vector<std::vector<int>> asked;
    for (const auto& it : g.items) asked.emplace_back(it.after.begin(), it.after.end());
    const detail::item_edges asked_edges = edges;
    std::map<int, std::vector<char>> after_write; // worked out where a control dependency makes it matter
    const auto comes_after_write = [&](int item, int write) {
        auto at = after_write.find(write);
        if (at == after_write.end()) at = after_write.emplace(write, asked_edges.descendants(write)).first;
        return at->second[static_cast<std::size_t>(item)] != 0;
    };
    bool forward = true; // every edge so far leads from an earlier item to a later one
    const auto depends_on = [&](int later, int earlier) {
        if (forward && later < earlier) return false;
        return edges.descendants(earlier)[static_cast<std::size_t>(later)] != 0;
    };
    const auto put_before = [&](int first, int second) {
        g.items[static_cast<std::size_t>(second)].after.push_back(first);
        edges.add(first, second);
        forward = forward && first < second;
    };
    struct use {
        int item;
        std::size_t input;
        bool operator<(const use& o) const { return std::pair(item, input) < std::pair(o.item, o.input); }
    };
    std::vector<std::vector<use>> uses(g.items.size());
    for (int i = 0; i < count; ++i)
        for (std::size_t k = 0; k < g.items[static_cast<std::size_t>(i)].inputs.size(); ++k)
            uses[static_cast<std::size_t>(g.items[static_cast<std::size_t>(i)].inputs[k].item)].push_back({i, k});

    // writes go in order of creation, as all edges so far do: no cycle; reads, which may close one, come after them all
    for (const auto& [variable, list] : writes)
        for (std::size_t k = 0; k + 1 < list.size(); ++k) put_before(list[k], list[k + 1]);
    for (const auto& [variable, list] : writes) {
        // version k is the value after k writes; its readers, and where the value is
        const std::size_t versions = list.size();
        std::vector<int> copies(versions + 1, -1);
        const auto copy_of = [&](std::size_t version, subgraph::value from) {
            if (copies[version] < 0) {
                copies[version] = static_cast<int>(g.items.size());
                subgraph::item it;
                it.inputs = {from};
                g.items.push_back(std::move(it));
                edges.add(from.item, copies[version]);
                forward = false;
                if (version > 0 && from.item != list[version - 1]) put_before(list[version - 1], copies[version]);
                if (version < versions) put_before(copies[version], list[version]);
            }
            return subgraph::value{copies[version], 0};
        };
        const auto source_version = [&](const subgraph::value& v) -> int {
            if (v.item == variable) return 0;
            for (std::size_t k = 0; k < list.size(); ++k) // output i of a write is the i-th variable it changed
                if (v.item == list[k]) {
                    const auto& in = g.items[static_cast<std::size_t>(v.item)].inputs;
                    if (static_cast<std::size_t>(v.port) < in.size() &&
                        in[static_cast<std::size_t>(v.port)].item == variable)
                        return static_cast<int>(k) + 1;
                }
            return -1;
        };
        std::vector<use> here = uses[static_cast<std::size_t>(variable)];
        for (const int w : list)
            here.insert(here.end(), uses[static_cast<std::size_t>(w)].begin(), uses[static_cast<std::size_t>(w)].end());
        std::sort(here.begin(), here.end());
        for (const auto& [r, input] : here) {
            auto& v = g.items[static_cast<std::size_t>(r)].inputs[input];
            const int source = source_version(v);
            const bool is_write = std::find(list.begin(), list.end(), r) != list.end();
            if (source < 0 || (is_write && v.item == variable &&
                               input < static_cast<std::size_t>(g.items[static_cast<std::size_t>(r)].op->writes())))
                continue;
            auto version = static_cast<std::size_t>(source);
            if (source == 0 && v.item == variable) // which writes do control dependencies put before this use?
                for (const int c : asked[static_cast<std::size_t>(r)])
                    for (std::size_t k = version; k < list.size(); ++k)
                        if (c == list[k] || comes_after_write(c, list[k])) version = k + 1;
            if (version == versions) continue; // nothing writes after it
            const int next = list[version];
            if (next == r || depends_on(r, next)) {
                const auto from = v;
                const auto copy = copy_of(version, from); // may move the items: `v` is not used again
                g.items[static_cast<std::size_t>(r)].inputs[input] = copy;
                edges.add(copy.item, r);
            } else {
                put_before(r, next);
            }
        }
        for (auto& f : g.fetches)
            if (const int source = source_version(f); source >= 0 && static_cast<std::size_t>(source) < versions)
                f = copy_of(static_cast<std::size_t>(source), f);
    }
    return g;
}

RILL_INLINE subgraph sort_items(subgraph g) {
    const int n = static_cast<int>(g.items.size());
    bool sorted_already = true; // as it is unless variables or copies were ordered
    for (int i = 0; i < n && sorted_already; ++i) {
        const auto& it = g.items[static_cast<std::size_t>(i)];
        for (const auto& v : it.inputs) sorted_already = sorted_already && v.item < i;
        for (const int a : it.after) sorted_already = sorted_already && a < i;
    }
    if (sorted_already) return g;
    const detail::item_edges edges(g);
    std::vector<int> missing(g.items.size());
    for (int i = 0; i < n; ++i)
        missing[static_cast<std::size_t>(i)] = static_cast<int>(g.items[static_cast<std::size_t>(i)].inputs.size() +
                                                                g.items[static_cast<std::size_t>(i)].after.size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < n; ++i)
        if (missing[static_cast<std::size_t>(i)] == 0) ready.push(i);
    std::vector<int> now(g.items.size(), -1);
    std::vector<subgraph::item> sorted;
    while (!ready.empty()) {
        const int i = ready.top();
        ready.pop();
        now[static_cast<std::size_t>(i)] = static_cast<int>(sorted.size());
        sorted.push_back(std::move(g.items[static_cast<std::size_t>(i)]));
        for (const int next : edges.next(i))
            if (--missing[static_cast<std::size_t>(next)] == 0) ready.push(next);
    }
    if (sorted.size() != g.items.size()) throw internal("passes: the graph has a cycle");
    for (auto& it : sorted) {
        for (auto& v : it.inputs) v.item = now[static_cast<std::size_t>(v.item)];
        for (auto& a : it.after) a = now[static_cast<std::size_t>(a)];
    }
    for (auto& f : g.fetches) f.item = now[static_cast<std::size_t>(f.item)];
    for (auto& t : g.targets) t = now[static_cast<std::size_t>(t)];
    g.items = std::move(sorted);
    return g;
}

} // namespace rill::inline RILL_ABI
