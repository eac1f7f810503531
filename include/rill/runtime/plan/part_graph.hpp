// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <rill/graph/graph.hpp>
#include <rill/passes/partition.hpp>
#include <rill/runtime/plan_key.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A part of a run as a graph that can be saved, loaded and run like any other. Nodes keep their names, which determine seeds and
/// state. Every node requests the device that it was placed on. Added nodes are called `_x/send_3`, `_x/receive_3`, `_x/copy_1` and
/// `_x/feed_0`.
struct part_graph {
    graph of;
    std::string device;                           // represents the devices of the part
    std::vector<endpoint> feeds;                  // placeholders, in the order of part::feeds
    std::vector<endpoint> fetches;                // in the order of part::fetches
    std::vector<const node*> targets;             // including sends
    std::vector<int> feed_numbers, fetch_numbers; // numbers in the run

    plan_key key() const { return {fetches, targets, feeds}; }
};

/// Builds the graph of a part of a run of graph `of`.
part_graph make_part_graph(const placed_part& p, const graph& of);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan/part_graph.ipp>
#endif
