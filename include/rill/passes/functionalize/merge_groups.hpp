// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <vector>

#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The groups of merges, each of which becomes one Case. Merges of one predicate share a group as long as no group depends on itself.
/// A merge that depends on its predicate's groups begins another one.
class merge_groups {
public:
    /// Adds a merge that depends on the groups `needed`, and on those that these depend on. Returns the number of its group. Groups of
    /// one predicate are numbered in the order in which they run.
    int add(const endpoint& predicate, const std::set<int>& needed);

private:
    struct group {
        endpoint predicate;
        std::set<int> needed;
    };
    std::vector<char> all_needed(const std::set<int>& first) const;

    std::vector<group> groups_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/merge_groups.ipp>
#endif
