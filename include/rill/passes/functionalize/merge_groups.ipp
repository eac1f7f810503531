// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/functionalize/merge_groups.hpp>

#include <cstddef>
#include <utility>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD int merge_groups::add(const endpoint& predicate, const std::set<int>& needed) {
    const auto is_needed = all_needed(needed);
    std::size_t g = 0;
    while (g < groups_.size() && (groups_[g].predicate != predicate || is_needed[g])) ++g;
    if (g == groups_.size()) groups_.push_back({predicate, {}});
    groups_[g].needed.insert(needed.begin(), needed.end());
    return static_cast<int>(g);
}

/// Marks the groups `first` and all groups that they depend on.
RILL_COLD std::vector<char> merge_groups::all_needed(const std::set<int>& first) const {
    std::vector<char> found(groups_.size());
    std::vector<int> open(first.begin(), first.end());
    while (!open.empty()) {
        const auto g = static_cast<std::size_t>(open.back());
        open.pop_back();
        if (std::exchange(found[g], char(1))) continue;
        open.insert(open.end(), groups_[g].needed.begin(), groups_[g].needed.end());
    }
    return found;
}

}}} // namespace rill::RILL_ABI::detail
