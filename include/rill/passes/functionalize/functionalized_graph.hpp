// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/graph/node.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class region_builder;

/// What a plan runs in place of primitives of control flow: nodes that are in no graph, and what they stand for.
class functionalized_graph {
public:
    functionalized_graph(const region* within, const functionalized_part* part, flow_ops ops = {})
        : within_(within), part_(part), ops_(std::move(ops)) {}

    /// The value that stands for one of the graph's.
    endpoint of(const endpoint& e) const;
    /// The node that runs in place of one.
    const node* of(const node* n) const;
    /// Whether a control input counts: it lies in the same body.
    bool waits_for(const node* c) const;

    void replace(const endpoint& e, const endpoint& by) { values_.try_emplace({e.from, e.port}, by); }
    void replace(const node* n, const node* by) { nodes_.try_emplace(n, by); }

    /// A node with bodies. It takes the number of a node that won't run.
    const node* add(region_use use, endpoint_list operands, std::span<const region_builder> bodies,
                    std::span<const node* const> waits, const node& in_place_of, const std::string& name);
    /// A constant of rank 0, for bodies that don't have the node.
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
