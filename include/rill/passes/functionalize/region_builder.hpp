// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/passes/functionalize/flow_graph.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Adds `one` unless it is there already; returns its index.
template <class T> std::size_t note(std::vector<T>& all, const T& one) {
    const auto at = detail::find(all, one) - all.begin();
    if (at == static_cast<std::ptrdiff_t>(all.size())) all.push_back(one);
    return static_cast<std::size_t>(at);
}

/// Returns true for stateful nodes: random ops and the like, and ops that write a variable.
inline bool is_stateful(const node* n) {
    return !n->op->flow() && ((n->op->stateful() && n->op->role() == op_role::ordinary) || !n->op->writes().empty());
}

/// A builder of a body whose nodes have no region of their own. It walks back from the results, and gathers nodes and captures.
class region_builder {
public:
    using inside_function = std::function<bool(const node*)>;

    /// Starts a body: `inside` is true for nodes that may belong to it, `same` maps values to their replacements.
    region_builder(const flow_graph& g, inside_function inside, const endpoint_map& same,
                   std::vector<endpoint> arguments);

    /// Adds a result. A null result is an absent value, which only another body computes.
    void give(const endpoint& result);
    void effect(const node* n);

    const hash_set<const node*>& nodes() const { return nodes_; }
    const std::vector<endpoint>& captures() const { return captures_; }
    const std::vector<endpoint>& results() const { return results_; }
    const std::vector<endpoint>& written() const { return written_; }
    /// Returns the control inputs of its nodes that lie outside the body.
    const std::vector<const node*>& waits() const { return waits_; }

    /// Returns the body, without `captured`, which its node fills in.
    body finish(const region* of, bool is_dataflow) const;

private:
    void need(const node* n);
    void take(endpoint e);
    void run();

    const flow_graph& g_;
    inside_function inside_;
    endpoint_map same_;
    std::vector<endpoint> arguments_, results_, captures_, written_;
    hash_set<const node*> nodes_;
    std::vector<const node*> open_, effects_, waits_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/passes/functionalize/region_builder.ipp>
#endif
