// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD item_edges::item_edges(const subgraph& g) : next_(g.items.size()) {
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        for (const auto& v : g.items[i].inputs) add(v.item, static_cast<int>(i));
        for (const int a : g.items[i].after) add(a, static_cast<int>(i));
    }
}

RILL_COLD void item_edges::add(int from, int to) {
    const auto most = static_cast<std::size_t>(std::max(from, to)) + 1;
    if (next_.size() < most) next_.resize(most);
    next_[from].push_back(to);
}

// ---- a topological order, kept up as edges are added ---------------------------------------------------------------------

/// A topological order of items. An edge against the order moves only the items that must come earlier, and only as far as they must.
/// So a plan of many writes stays near linear.
class item_order {
public:
    explicit item_order(std::vector<std::vector<int>> before); // per item: earlier items that it waits for

    /// Adds an edge. Returns false if `first` already waits for `second`, or is the same item.
    bool put_before(int first, int second);
    /// Inserts a new item right before `second`, which is after the items it waits for.
    void insert(int item, int second, std::vector<int> waits_for);
    /// Adds an edge that the order satisfies already.
    void add(int first, int second) { before_[second].push_back(first); }

private:
    std::int64_t& label(int item) { return label_[item]; }
    /// Moves an item before another one; returns false if it waits for that one.
    bool move_before(int item, int second);
    void place(int item, std::list<int>::iterator at);
    void spread_labels();

    static constexpr std::int64_t gap = std::int64_t(1) << 32;

    std::vector<std::vector<int>> before_; // per item: the items it waits for
    std::list<int> order_;
    vector<std::list<int>::iterator> at_; // per item
    std::vector<std::int64_t> label_;     // per item: rises along the order
    std::vector<int> seen_;               // per item: the last search that saw it
    int search_ = 0;
};

RILL_COLD item_order::item_order(std::vector<std::vector<int>> before)
    : before_(std::move(before)), label_(before_.size()), seen_(before_.size()) {
    for (std::size_t i = 0; i < before_.size(); ++i) at_.push_back(order_.insert(order_.end(), static_cast<int>(i)));
    spread_labels();
}

RILL_COLD bool item_order::put_before(int first, int second) {
    if (first == second || (label(first) > label(second) && !move_before(first, second))) return false;
    add(first, second);
    return true;
}

RILL_COLD void item_order::insert(int item, int second, std::vector<int> waits_for) {
    before_.push_back(std::move(waits_for));
    label_.push_back(0);
    seen_.push_back(0);
    at_.push_back(order_.insert(order_.end(), item));
    place(item, at_[second]);
}

RILL_COLD bool item_order::move_before(int item, int second) {
    // no item before `second` can wait for it: they need no visit
    ++search_;
    std::vector<int> found{item};
    for (std::size_t k = 0; k < found.size(); ++k)
        for (const int b : before_[found[k]]) {
            if (b == second) return false;
            if (label(b) > label(second) && std::exchange(seen_[b], search_) != search_) found.push_back(b);
        }
    detail::sort(found, [&](int a, int b) { return label(a) < label(b); });
    for (const int f : found) place(f, at_[second]);
    return true;
}

RILL_COLD void item_order::place(int item, std::list<int>::iterator at) {
    order_.splice(at, order_, at_[item]);
    const std::int64_t high = label(*at), low = at_[item] == order_.begin() ? high - gap : label(*std::prev(at_[item]));
    label(item) = low + (high - low) / 2;
    if (label(item) == low) spread_labels();
}

RILL_COLD void item_order::spread_labels() {
    std::int64_t next = 0;
    for (const int i : order_) label(i) = next += gap;
}

// ---- variables -----------------------------------------------------------------------------------------------------------

/// A pass over the variables of a subgraph. Version k of a variable is its value after k of its writes.
class variable_order {
public:
    explicit variable_order(subgraph& g);
    void run();

private:
    struct use {
        int item;
        std::size_t input;
        bool operator<(const use& o) const { return std::pair(item, input) < std::pair(o.item, o.input); }
    };

    subgraph::item& item(int i) { return g_.items[i]; }
    /// Returns the user's edges, before any is added: only these put a use after a write.
    std::vector<std::vector<int>> asked_edges() const;
    void find_writes();
    void find_uses();

    void order_writes(const std::vector<int>& writes);
    void order_uses(int variable, const std::vector<int>& writes);
    void order_use(const use& u);
    void keep_fetched(std::size_t fetch);

    /// Returns the index of an item among the variable's writes; -1 if it is none.
    int write_index(int i) const { return static_cast<std::size_t>(i) < write_index_.size() ? write_index_[i] : -1; }
    /// Returns which version of the variable a value is; -1 if it is none.
    int version_of(const subgraph::value& v);
    /// Returns the version that the item's control dependencies ask for.
    std::size_t asked_version(int i);
    /// Counts the writes before an item, itself included, along the user's edges.
    std::size_t writes_before(int i);
    /// Returns a copy of the version, made before the next write.
    subgraph::value copy_of(std::size_t version, const subgraph::value& from);

    subgraph& g_;
    std::vector<std::vector<int>> asked_; // per item: inputs, then control inputs
    item_order order_;
    std::vector<std::vector<int>> writes_; // per variable item: its writes, in order of creation
    vector<vector<use>> uses_;             // per item
    std::vector<std::vector<std::size_t>> fetched_;

    // state of the current variable
    int variable_ = -1;
    std::span<const int> list_;        // its writes
    std::vector<int> copies_;          // per version; -1: none
    std::vector<int> write_index_;     // per item
    std::vector<std::size_t> reached_; // writes_before, from the first write up to `known_`
    std::size_t known_ = 0;
};

RILL_COLD variable_order::variable_order(subgraph& g)
    : g_(g), asked_(asked_edges()), order_(asked_), write_index_(g.items.size(), -1), reached_(g.items.size()) {
    find_writes();
    find_uses();
}

RILL_COLD void variable_order::run() {
    // writes keep the order of creation, as all edges so far do: no cycle. Reads may close one, so they come after all writes
    for (const auto& list : writes_) order_writes(list);
    for (std::size_t i = 0; i < writes_.size(); ++i)
        if (!writes_[i].empty()) order_uses(static_cast<int>(i), writes_[i]);
}

RILL_COLD std::vector<std::vector<int>> variable_order::asked_edges() const {
    std::vector<std::vector<int>> edges;
    for (const auto& it : g_.items) {
        auto& before = edges.emplace_back();
        for (const auto& v : it.inputs) before.push_back(v.item);
        before.insert(before.end(), it.after.begin(), it.after.end());
    }
    return edges;
}

RILL_COLD void variable_order::find_writes() {
    writes_.resize(g_.items.size());
    for (int i = 0; i < static_cast<int>(g_.items.size()); ++i)
        if (item(i).origin)
            for (const int k : item(i).op->writes()) writes_[item(i).inputs[k].item].push_back(i);
}

RILL_COLD void variable_order::find_uses() {
    uses_.resize(g_.items.size());
    for (int i = 0; i < static_cast<int>(g_.items.size()); ++i)
        for (std::size_t k = 0; k < item(i).inputs.size(); ++k) uses_[item(i).inputs[k].item].push_back({i, k});
    fetched_.resize(g_.items.size());
    for (std::size_t f = 0; f < g_.fetches.size(); ++f) fetched_[g_.fetches[f].item].push_back(f);
}

RILL_COLD void variable_order::order_writes(const std::vector<int>& writes) {
    for (std::size_t k = 0; k + 1 < writes.size(); ++k) {
        item(writes[k + 1]).after.push_back(writes[k]);
        order_.add(writes[k], writes[k + 1]);
    }
}

RILL_COLD void variable_order::order_uses(int variable, const std::vector<int>& writes) {
    variable_ = variable;
    list_ = writes;
    copies_.assign(writes.size() + 1, -1);
    known_ = static_cast<std::size_t>(writes[0]);
    for (std::size_t k = writes.size(); k-- > 0;) write_index_[writes[k]] = static_cast<int>(k);

    vector<use> uses;
    std::vector<std::size_t> fetches;
    const auto gather = [&](int i) {
        const auto& more = uses_[i];
        uses.append(more);
        fetches.insert(fetches.end(), fetched_[i].begin(), fetched_[i].end());
    };
    gather(variable);
    for (const int w : writes) gather(w);
    detail::sort(uses);
    detail::sort(fetches);
    for (const auto& u : uses) order_use(u);
    for (const std::size_t f : fetches) keep_fetched(f);
    for (const int w : writes) write_index_[w] = -1;
}

RILL_COLD void variable_order::order_use(const use& u) {
    const auto v = item(u.item).inputs[u.input];
    const int source = version_of(v);
    if (source < 0 || (v.item == variable_ && item(u.item).writes(u.input))) return;
    const auto version = v.item == variable_ ? asked_version(u.item) : static_cast<std::size_t>(source);
    if (version == list_.size()) return; // no later write
    const int next = list_[version];
    if (next == u.item && item(next).op->in_place()) return; // each element is read before it is written
    if (order_.put_before(u.item, next)) {
        item(next).after.push_back(u.item);
    } else {
        const auto copy = copy_of(version, v);
        item(u.item).inputs[u.input] = copy;
        order_.add(copy.item, u.item);
    }
}

RILL_COLD void variable_order::keep_fetched(std::size_t fetch) {
    auto& f = g_.fetches[fetch];
    const int source = version_of(f);
    if (source >= 0 && static_cast<std::size_t>(source) < list_.size())
        f = copy_of(static_cast<std::size_t>(source), f);
}

RILL_COLD int variable_order::version_of(const subgraph::value& v) {
    if (v.item == variable_) return 0;
    const int k = write_index(v.item);
    if (k < 0) return -1;
    const auto& it = item(v.item);
    if (!it.gives_written(v.port)) return -1;
    return it.inputs[it.op->alias()].item == variable_ ? k + 1 : -1;
}

RILL_COLD std::size_t variable_order::asked_version(int i) {
    const auto& before = asked_[i];
    const auto& it = item(i);
    const auto end = it.asked < 0 ? before.size() : it.inputs.size() + static_cast<std::size_t>(it.asked);
    std::size_t version = 0;
    for (std::size_t k = it.inputs.size(); k < end; ++k) // control inputs
        version = std::max(version, writes_before(before[k]));
    return version;
}

RILL_COLD std::size_t variable_order::writes_before(int i) {
    if (i < list_[0]) return 0;
    for (; known_ <= static_cast<std::size_t>(i); ++known_) {
        auto n = static_cast<std::size_t>(write_index_[known_] + 1);
        for (const int b : asked_[known_])
            if (b >= list_[0]) n = std::max(n, reached_[b]);
        reached_[known_] = n;
    }
    return reached_[i];
}

RILL_COLD subgraph::value variable_order::copy_of(std::size_t version, const subgraph::value& from) {
    if (copies_[version] < 0) {
        const int copy = copies_[version] = static_cast<int>(g_.items.size());
        subgraph::item it;
        it.inputs = {from};
        if (item(from.item).memory()) it.device = item(from.item).device;
        std::vector<int> waits_for{from.item};
        if (version > 0 && from.item != list_[version - 1]) {
            it.after.push_back(list_[version - 1]);
            waits_for.push_back(list_[version - 1]);
        }
        g_.items.push_back(std::move(it));
        order_.insert(copy, list_[version], std::move(waits_for));
        order_.add(copy, list_[version]);
        item(list_[version]).after.push_back(copy);
    }
    return {copies_[version], 0};
}

RILL_COLD subgraph reordered(subgraph g, std::span<const int> order) {
    std::vector<int> now(g.items.size());
    vector<subgraph::item> items;
    for (const int i : order) {
        now[i] = static_cast<int>(items.size());
        items.push_back(std::move(g.items[i]));
    }
    for (auto& it : items) {
        for (auto& v : it.inputs) v.item = now[v.item];
        for (auto& a : it.after) a = now[a];
    }
    for (auto& f : g.fetches) f.item = now[f.item];
    for (auto& t : g.targets) t = now[t];
    g.items = std::move(items);
    return g;
}

} // namespace detail

RILL_COLD subgraph order_variable_accesses(subgraph g) {
    const bool writes = detail::any_of(g.items, [](const subgraph::item& it) { return it.origin && it.is_write(); });
    if (writes) detail::variable_order(g).run();
    return g;
}

RILL_COLD subgraph serialize_lock_ops(subgraph g) {
    const auto holds_lock = [](const subgraph::item& it) {
        return it.origin && it.op->ordering() == step_ordering::turns;
    };
    if (detail::none_of(g.items, holds_lock)) return g;
    // nodes of one container and name are one lock
    using lock = std::tuple<std::string, std::string, int>;
    const auto lock_at = [&](int i) -> lock {
        const auto& it = g.items[i];
        const node* n = it.origin ? it.origin : it.feed >= 0 ? g.feeds[it.feed].from : nullptr;
        if (!n || n->op->role() != op_role::resource) return {"", "", i};
        const auto place = n->op->resource_place();
        return {place.container, place.known_as(n->name), -1};
    };
    detail::hash_map<lock, int> last; // the last item that uses it so far
    for (const auto& it : g.items)
        if (holds_lock(it)) last[lock_at(it.inputs[0].item)] = -1;
    for (int i = 0; i < static_cast<int>(g.items.size()); ++i) {
        auto& it = g.items[i];
        const bool turn = holds_lock(it);
        if (!turn && !(it.origin && it.origin->bodies)) continue;
        for (std::size_t k = 0; k < (turn ? 1 : it.inputs.size()); ++k) {
            const auto at = last.find(lock_at(it.inputs[k].item));
            if (at == last.end()) continue;
            if (const int before = std::exchange(at->second, i); before >= 0) it.after.push_back(before);
        }
    }
    return g;
}

RILL_COLD subgraph sort_items(subgraph g) {
    const int n = static_cast<int>(g.items.size());
    bool sorted_already = true; // true unless variables were ordered or copies added
    for (int i = 0; i < n && sorted_already; ++i) {
        const auto& it = g.items[i];
        for (const auto& v : it.inputs) sorted_already = sorted_already && v.item < i;
        for (const int a : it.after) sorted_already = sorted_already && a < i;
    }
    if (sorted_already) return g;
    const detail::item_edges edges(g);
    std::vector<int> missing(g.items.size());
    for (int i = 0; i < n; ++i) missing[i] = static_cast<int>(g.items[i].inputs.size() + g.items[i].after.size());
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < n; ++i)
        if (missing[i] == 0) ready.push(i);
    std::vector<int> order;
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (const int next : edges.next(order.back()))
            if (--missing[next] == 0) ready.push(next);
    }
    if (order.size() != g.items.size()) throw internal("passes: the graph has a cycle");
    return detail::reordered(std::move(g), order);
}

}} // namespace rill::RILL_ABI
