// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include <rill/passes/flow_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// What a plan runs in place of primitives of control flow: nodes that are in no graph, and what they stand for.
class raised_flow {
public:
    raised_flow(const region* within, const raised_part* part) : within_(within), part_(part) {}

    /// The value that stands for one of the graph's.
    endpoint of(const endpoint& e) const;
    const node* of(const node* n) const;
    /// Whether a control input counts: it lies in the same body.
    bool waits_for(const node* c) const;

    void replace(const endpoint& e, const endpoint& by) { values_.try_emplace({e.from, e.port}, by); }
    void replace(const node* n, const node* by) { nodes_.try_emplace(n, by); }
    node& make() { return made_.emplace_back(); }
    const node_bodies* keep(node_bodies bodies) { return &bodies_.emplace_back(std::move(bodies)); }

private:
    const region* within_;
    const raised_part* part_;
    endpoint_map values_;
    std::unordered_map<const node*, const node*> nodes_;
    std::deque<node> made_;
    std::deque<node_bodies> bodies_;
};

/// Makes branches of switches and merges that form them, and loops of frames that do: a loop has one condition, merges of an entering
/// and a coming value, switches by the condition, and leaves what they send out. What is no such form, and all that needs it, becomes
/// one node whose nodes run by frames (runtime/frames.hpp); so does everything if `regions` is false. Null where nothing is to be
/// said. A branch or a loop within another is made when that one's body is compiled.
std::shared_ptr<const raised_flow> raise_flow(const flow_request& asked, bool regions);

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/raise.ipp>
#endif
