// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <vector>

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A run in pieces: straight lines of steps between nodes that stand alone, because only their run decides extents or because they
/// may wait. Values that go from one to another have numbers; the first are the feeds.
struct stages {
    struct stage {
        subgraph part;          // of a straight line: its feeds are `takes`, its fetches `gives`
        subgraph::item alone;   // of a node that stands alone; no origin: it is a straight line
        std::vector<int> takes; // values
        std::vector<int> gives; // values
        std::vector<int> after; // pieces that are complete before it starts
    };
    struct handle {
        subgraph::item of; // a resource
        int value;
    };
    std::deque<stage> all;
    std::vector<handle> handles; // what pieces take of them is there before the step
    int values = 0;
    std::vector<int> fetches; // values
};

/// Whether the node, of a body or of a whole graph, must stand alone.
bool needs_dynamic_execution(const node& n);

/// Whether a run of the subgraph has more than one piece.
bool needs_stages(const subgraph& g);

/// Whether types leave open what the node's bodies, or theirs, give: branches of other extents, or a loop whose state grows. In a straight
/// line it is a step until a run shows that it is none (dynamic_shape_found); where a run is cut anyway it stands alone.
bool may_have_dynamic_shapes(const node& n);

/// Cuts a subgraph whose items are ordered: what waits for the same nodes that stand alone is one piece.
stages split_into_stages(const subgraph& g);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/split_into_stages.ipp>
#endif
