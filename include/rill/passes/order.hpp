// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/error.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Items and the edges between them.
class item_edges {
public:
    explicit item_edges(const subgraph& g);
    void add(int from, int to);
    const std::vector<int>& next(int i) const { return next_[i]; }

private:
    std::vector<std::vector<int>> next_;
};

} // namespace detail

/// Variables keep their meaning: within a step a use of a variable is its value at the step's start, unless a control
/// dependency puts the use after a write. Reads are put before the next write; where that would close a cycle (and for a
/// fetch, which is read at the end), the value is copied first.
subgraph order_variable_accesses(subgraph g);

/// Nodes that take and free one lock, and those whose bodies do, run in order of creation: a step does not wait for itself.
subgraph serialize_lock_ops(subgraph g);

/// Sorts the items so that each runs after what it depends on; otherwise in order of creation.
subgraph sort_items(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/order.ipp>
#endif
