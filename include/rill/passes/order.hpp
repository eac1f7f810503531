// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <rill/core/error.hpp>
#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// The edges between items, from each item to those that wait for it.
class item_edges {
public:
    explicit item_edges(const subgraph& g);
    void add(int from, int to);
    const std::vector<int>& next(int i) const { return next_[i]; }

private:
    std::vector<std::vector<int>> next_;
};

/// Returns the items in another order: `order` holds their numbers.
subgraph reordered(subgraph g, std::span<const int> order);

} // namespace detail

/// Orders the uses of variables around their writes. Within a step, a use sees the variable's value at the step's start. Only a
/// control dependency puts a use after a write. Reads go before the next write. If that would close a cycle, the value is copied
/// first. The same holds for a fetch, which is read at the end.
subgraph order_variable_accesses(subgraph g);

/// Makes nodes that acquire or release one lock run in order of creation, so that no step waits for itself. The same holds for region
/// ops that take the lock.
subgraph serialize_lock_ops(subgraph g);

/// Sorts the items so that each runs after what it depends on; otherwise in order of creation. Throws internal on a cycle.
subgraph sort_items(subgraph g);

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/passes/order.ipp>
#endif
