// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/graph/graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What is asked of a graph, or of a body.
struct flow_request {
    std::span<const endpoint> fetches;
    std::span<const node* const> targets;
    std::span<const endpoint> feeds;
    const region* within = nullptr;
    const functionalized_part* part = nullptr; // of a body made of primitives
};

/// What a run needs of a graph that has primitives of control flow, with the edges that go back, and in which loop each node lies.
/// What a loop takes from outside without an enter is as if it had entered as a constant, and what enters a loop within another from
/// outside of both as if it had entered that one first. Throws invalid_argument for a merge whose
/// loop is open, for what leaves a loop that it never entered, for nodes between two loops, and for fetches from within one.
class flow_graph {
public:
    explicit flow_graph(const flow_request& asked);

    /// A loop: what enters under one name from one place.
    struct frame {
        int parent = -1;
        std::string name;
        const node* enter = nullptr; // one of those that enter
        int same = -1;               // it turned out to be this one
    };
    static constexpr int outside = 0; // the frame of what lies in no loop

    const flow_request& asked() const { return asked_; }
    bool has_primitives() const { return has_primitives_; }
    /// In order of creation.
    const std::vector<const node*>& nodes() const { return nodes_; }
    const std::vector<frame>& frames() const { return frames_; }
    int frame_of(const node* n) const { return one_of(frame_of_.at(n)); }
    bool lies_in(int f, int outer) const;
    int parent_of(int f) const { return f == outside ? -1 : one_of(frames_[f].parent); }

    /// What a value is called here.
    endpoint of(const endpoint& e) const;
    bool fed(const endpoint& e) const;
    /// What a merge that begins a loop gets in later iterations; null of all others.
    endpoint back(const node* n) const;
    /// Those of its control inputs that are not over when this begins.
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

/// The value that a map of values that are others leads to.
endpoint followed(const endpoint_map& same, endpoint e);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/flow_graph.ipp>
#endif
