// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
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
    explicit state_groups(const subgraph& g) : parent_(g.items.size()) {
        std::iota(parent_.begin(), parent_.end(), 0);
        for (int i = 0; i < static_cast<int>(g.items.size()); ++i) {
            const auto& it = g.items[i];
            if (!it.op) continue;
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

private:
    void unite(const subgraph& g, int a, int b) {
        if (is_repeated(g, a) || is_repeated(g, b)) return;
        a = first(a), b = first(b);
        parent_[std::max(a, b)] = std::min(a, b);
    }

    std::vector<int> parent_;
};

}}} // namespace rill::RILL_ABI::detail
