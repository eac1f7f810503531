// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns true if each part that needs the item has a copy of it: a feed, or a constant.
inline bool is_repeated(const subgraph& g, int i) {
    return g.items[i].feed >= 0 || (g.role(i) == op_role::constant && g.items[i].after.empty());
}

/// Sets of items that share state, so that one part runs them (union-find).
class state_groups {
public:
    explicit state_groups(const subgraph& g) : state_groups(g, [](int) { return false; }) {}
    /// As above; items for which `is_left_out` returns true join no set.
    template <class F> state_groups(const subgraph& g, const F& is_left_out) : parent_(g.items.size()) {
        std::iota(parent_.begin(), parent_.end(), 0);
        for (int i = 0; i < static_cast<int>(g.items.size()); ++i) {
            const auto& it = g.items[i];
            if (!it.op || is_left_out(i)) continue;
            for (const int k : it.op->writes()) unite(g, i, it.inputs[static_cast<std::size_t>(k)].item);
            for (const int k : it.op->may_be_uninitialized()) unite(g, i, it.inputs[static_cast<std::size_t>(k)].item);
            for (const auto& v : it.inputs)
                if (g.role(v.item) == op_role::resource) unite(g, i, v.item);
        }
    }
    /// Returns the first item of the set; that is the variable or resource, which precedes its users.
    int first(int i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }

    /// Joins the sets of two items; nothing happens if each part has a copy of one of them.
    void unite(const subgraph& g, int a, int b) {
        if (is_repeated(g, a) || is_repeated(g, b)) return;
        a = first(a), b = first(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<int> parent_;
};

/// Sets of numbers, each with a number of its own. Set 0 is empty.
class number_sets {
public:
    int join(int a, int b) {
        if (a == b || b == 0) return a;
        if (a == 0) return b;
        const auto [at, fresh] = joined_.try_emplace(std::minmax(a, b), 0);
        if (fresh) {
            std::vector<int> both;
            std::ranges::set_union(sets_[static_cast<std::size_t>(a)], sets_[static_cast<std::size_t>(b)],
                                   std::back_inserter(both));
            at->second = number_of(std::move(both));
        }
        return at->second;
    }
    int number_of(std::vector<int> set) {
        const auto [at, fresh] = numbers_.try_emplace(set, static_cast<int>(sets_.size()));
        if (fresh) sets_.push_back(std::move(set));
        return at->second;
    }

    const std::vector<int>& members(int set) const { return sets_[static_cast<std::size_t>(set)]; }

private:
    std::vector<std::vector<int>> sets_{{}};
    std::map<std::vector<int>, int> numbers_{{{}, 0}};
    std::map<std::pair<int, int>, int> joined_;
};

}}} // namespace rill::RILL_ABI::detail
