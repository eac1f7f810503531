// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/graph/graph.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class region_builder;

/// Returns true if the node runs primitives on the dataflow executor.
inline bool runs_dataflow(const node& n) {
    const auto is_dataflow = [](const body& b) { return b.functionalized && b.functionalized->is_dataflow; };
    return n.bodies && any_of(*n.bodies, is_dataflow);
}

/// Returns the nodes of a body, in order of creation. Nodes of a body that is made of primitives have no region of their own.
inline std::vector<const node*> nodes_in(const body& b, const graph_state& of) {
    if (!b.functionalized) return of.nodes_of(b.of);
    std::vector<const node*> all(b.functionalized->nodes.begin(), b.functionalized->nodes.end());
    detail::sort(all, [](const node* x, const node* y) { return x->id < y->id; });
    return all;
}

/// The nodes that a plan runs in place of control-flow primitives, and the values that they replace. These nodes are in no graph.
class functionalized_graph {
public:
    functionalized_graph(const region* within, const functionalized_part* part, flow_ops ops = {})
        : within_(within), part_(part), ops_(std::move(ops)) {}

    /// Returns the value that replaces `e`, or `e` itself.
    endpoint of(const endpoint& e) const;
    /// Returns the node that runs in place of `n`, or `n` itself.
    const node* of(const node* n) const;
    /// Returns true if a control input counts: it lies in the same body.
    bool waits_for(const node* c) const;

    void replace(const endpoint& e, const endpoint& by) { values_.try_emplace({e.from, e.port}, by); }
    void replace(const node* n, const node* by) { nodes_.try_emplace(n, by); }

    /// Adds a node with bodies. It takes the id of `in_place_of`, a node that will not run.
    const node* add(region_attributes use, endpoint_list operands, std::span<const region_builder> bodies,
                    std::span<const node* const> waits, const node& in_place_of, const std::string& name);
    /// Adds an int32 constant of rank 0: the index that a merge returns, for bodies without this merge.
    endpoint number(int value, const node& in_place_of);

private:
    node& make(op_ptr op, const std::string& name, const node& in_place_of);

    const region* within_;
    const functionalized_part* part_;
    flow_ops ops_;
    endpoint_map values_;
    hash_map<const node*, const node*> nodes_;
    std::deque<node> made_;
    std::deque<node_bodies> bodies_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/functionalized_graph.ipp>
#endif
