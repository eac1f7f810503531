// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <vector>

#include <rill/passes/subgraph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A subgraph split into stages: static segments, and the dynamic nodes between them. A node is dynamic if only its run decides
/// extents, or if it may wait. Values that pass between stages have numbers; the first numbers are the feeds.
struct stages {
    struct stage {
        subgraph part;            // a static segment, whose feeds are `inputs` and fetches `outputs`
        subgraph::item alone;     // a dynamic node; no origin: a static segment
        std::vector<int> inputs;  // numbers of the values it reads
        std::vector<int> outputs; // numbers of the values it computes
        std::vector<int> after;   // stages that complete before it starts
    };
    struct handle {
        subgraph::item of; // a resource node
        int value;
    };
    std::deque<stage> all;
    std::vector<handle> handles; // resource handles that stages read: available before the step
    int values = 0;
    std::vector<int> fetches; // numbers of values
};

/// Returns true if the node is dynamic, be it in a region or outside of any.
bool needs_dynamic_execution(const node& n);

/// Returns true if the subgraph has a dynamic node: a run then has more than one stage.
bool needs_stages(const subgraph& g);

/// Returns true if result extents of the node's bodies, or of nested ones, do not follow from types. Examples are branches of different
/// extents, or a loop whose loop-carried value grows. In a static segment, the node is a step until the types of a run show otherwise. In
/// a run that has stages anyway, it is a dynamic node.
bool may_have_dynamic_shapes(const node& n);

/// Splits a sorted subgraph with copies between memories. Items that wait for the same dynamic nodes form one static segment, and keep
/// their devices. A value that passes between stages stays in the memory where it was computed.
stages split_into_stages(const subgraph& g);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/split_into_stages.ipp>
#endif
