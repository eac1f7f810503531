// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/functionalize/loop_structure.hpp>

#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD int frame_of_inputs(const flow_graph& g, const node* n) {
    return n->op->flow().what == control_flow_kind::form::leaves ? g.frame_of(g.of(n->inputs[0]).from) : g.frame_of(n);
}

class loop_finder {
public:
    loop_finder(const flow_graph& g, int frame, const std::vector<const node*>& nodes)
        : g_(g), frame_(frame), nodes_(nodes) {
        for (const auto* n : nodes) own_.insert(n);
    }

    std::optional<loop_structure> find() {
        if (!find_parts() || made_.merges.empty()) return {};
        endpoint_map same;
        std::vector<endpoint> arguments;
        for (const auto* m : made_.merges) {
            arguments.push_back({m, 0});
            parts_.insert(m);
            const auto first = g_.of(m->inputs[0]), back = g_.of(g_.back(m));
            if (g_.fed(first) || g_.fed(back) || !enters(first.from, false)) return {};
            parts_.insert(back.from);
        }
        for (const auto* n : nodes_) {
            if (enters(n, true)) same[{n, 0}] = n->inputs[0];
            if (n->op->flow().what == form::enters && is_here(n)) parts_.insert(n);
            if (!is_here(n) || n->op->flow().what != form::switches || g_.of(n->inputs[1]) != endpoint{condition_, 0})
                continue;
            switches_.insert(n);
            parts_.insert(n);
        }
        const endpoint_map condition_same = same;
        for (const auto* s : switches_) same[{s, 1}] = s->inputs[0];
        for (const auto* l : made_.leaves) {
            const auto e = g_.of(l->inputs[0]);
            if (e.port != 0 || !switches_.contains(e.from) || !detail::contains(arguments, g_.of(e.from->inputs[0])))
                return {};
            parts_.insert(l);
        }
        const auto inside = [g = &g_, frame = frame_, own = own_, parts = parts_](const node* n) {
            return own.contains(n) && g->lies_in(g->frame_of(n), frame) && !parts.contains(n);
        };
        made_.bodies.emplace_back(g_, inside, condition_same, arguments).give(condition_->inputs[0]);
        auto& body = made_.bodies.emplace_back(g_, inside, same, arguments);
        for (const auto* m : made_.merges) body.give(g_.of(g_.back(m)).from->inputs[0]);
        for (auto& b : made_.bodies) {
            for (const auto& e : b.captures()) // a part of the loop is used in a way that a While can't express
                if (!g_.fed(e) && own_.contains(e.from)) return {};
            for (const auto& e : b.results())
                if (parts_.contains(e.from) && !detail::contains(arguments, e)) return {};
        }
        return draws_before(body) ? std::optional<loop_structure>() : std::optional(std::move(made_));
    }

private:
    using form = control_flow_kind::form;

    /// Finds the merges, the leaves and the condition. Returns false unless the loop has exactly one condition.
    bool find_parts() {
        for (const auto* n : nodes_) {
            if (!is_here(n)) continue;
            const auto what = n->op->flow().what;
            if (what == form::merges && g_.back(n)) made_.merges.push_back(n);
            if (what == form::leaves) made_.leaves.push_back(n);
            if (what != form::loop_condition) continue;
            if (condition_) return false;
            condition_ = n;
        }
        if (condition_) parts_.insert(condition_);
        return condition_;
    }
    bool is_here(const node* n) const { return frame_of_inputs(g_, n) == frame_; }
    bool enters(const node* n, bool constant) const {
        const auto flow = n->op->flow();
        return flow.what == form::enters && flow.constant == constant && g_.frame_of(n) == frame_;
    }
    /// Returns true if a stateful node of the body runs before the loop knows whether there is another iteration.
    bool draws_before(const region_builder& body) const {
        hash_set<const node*> later;
        for (const auto* n : g_.nodes()) {
            const bool is_after_switch =
                detail::any_of(n->inputs,
                               [&](const endpoint& i) {
                                   const auto e = g_.of(i);
                                   return later.contains(e.from) || (e.port == 1 && switches_.contains(e.from));
                               }) ||
                detail::any_of(g_.control_inputs_of(n), [&](const node* c) { return later.contains(c); });
            if (is_after_switch)
                later.insert(n);
            else if (is_stateful(n) && body.nodes().contains(n))
                return true;
        }
        return false;
    }

    const flow_graph& g_;
    int frame_;
    const std::vector<const node*>& nodes_;
    loop_structure made_;
    const node* condition_ = nullptr;
    hash_set<const node*> own_;      // all nodes of the loop
    hash_set<const node*> parts_;    // nodes that belong to neither body
    hash_set<const node*> switches_; // switches by the loop condition
};

RILL_COLD std::optional<loop_structure> find_loop(const flow_graph& g, int frame,
                                                  const std::vector<const node*>& nodes) {
    return loop_finder(g, frame, nodes).find();
}

}}} // namespace rill::RILL_ABI::detail
