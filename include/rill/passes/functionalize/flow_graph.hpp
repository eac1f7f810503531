// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A request for fetches, targets and feeds of a graph, or of a body.
struct flow_request {
    std::span<const endpoint> fetches;
    std::span<const node* const> targets;
    std::span<const endpoint> feeds;
    const region* within = nullptr;
    const functionalized_part* part = nullptr; // set for a body built from control-flow primitives
};

/// The part of a graph with control-flow primitives that a run needs: nodes, back edges and the loop of each node. A value that a loop
/// uses without an enter counts as entered as a constant. A value that enters a nested loop from outside both loops counts as entered
/// into the outer one first. Throws invalid_argument for an open loop, a leave without an enter, or a node between two loops. The same
/// holds for a fetch from within a loop.
class flow_graph {
public:
    explicit flow_graph(const flow_request& asked);

    /// A loop: the enters of one frame name in one parent frame.
    struct frame {
        int parent = -1;
        std::string name;
        const node* enter = nullptr; // one of its enters
        int same = -1;               // the frame that it was merged into; -1: none
    };
    static constexpr int outside = 0; // the frame of nodes outside every loop

    const flow_request& asked() const { return asked_; }
    bool has_primitives() const { return has_primitives_; }
    /// Returns the nodes in order of creation.
    const std::vector<const node*>& nodes() const { return nodes_; }
    const std::vector<frame>& frames() const { return frames_; }
    int frame_of(const node* n) const { return one_of(frame_of_.at(n)); }
    bool lies_in(int f, int outer) const;
    int parent_of(int f) const { return f == outside ? -1 : one_of(frames_[f].parent); }

    /// Returns the value that replaces `e` in this body, or `e` itself.
    endpoint of(const endpoint& e) const;
    bool fed(const endpoint& e) const;
    /// Returns the back edge of a merge that begins a loop; null for all other nodes.
    endpoint back(const node* n) const;
    /// Returns the node's control inputs that lie in the same body. All others have run before the body starts.
    std::vector<const node*> control_inputs_of(const node* n) const;

private:
    void find_needed();
    void find_frames();
    int one_of(int f) const;
    int deepest(const node* n);
    int entered(int parent, const node* n);
    bool unite(int a, int b);

    flow_request asked_;
    std::vector<const node*> nodes_;
    hash_map<const node*, endpoint> back_;
    std::vector<frame> frames_{{}};
    hash_map<const node*, int> frame_of_;
    bool has_primitives_ = false;
};

/// Follows the map from `e` to the value that replaces it.
endpoint followed(const endpoint_map& same, endpoint e);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/flow_graph.ipp>
#endif
