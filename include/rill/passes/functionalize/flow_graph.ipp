// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/functionalize/flow_graph.hpp>

#include <algorithm>
#include <cstddef>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD endpoint followed(const endpoint_map& same, endpoint e) {
    for (auto at = same.find({e.from, e.port}); at != same.end(); at = same.find({e.from, e.port})) e = at->second;
    return e;
}

RILL_COLD flow_graph::flow_graph(const flow_request& asked) : asked_(asked) {
    find_needed();
    if (has_primitives_) find_frames();
}

RILL_COLD bool flow_graph::lies_in(int f, int outer) const {
    while (f >= 0 && f != outer) f = parent_of(f);
    return f == outer;
}

RILL_COLD int flow_graph::one_of(int f) const {
    while (f >= 0 && frames_[f].same >= 0) f = frames_[f].same;
    return f;
}

RILL_COLD endpoint flow_graph::of(const endpoint& e) const { return asked_.part ? followed(asked_.part->same, e) : e; }

RILL_COLD bool flow_graph::fed(const endpoint& e) const { return detail::contains(asked_.feeds, e); }

RILL_COLD endpoint flow_graph::back(const node* n) const {
    const auto at = back_.find(n);
    return at == back_.end() ? endpoint() : at->second;
}

RILL_COLD std::vector<const node*> flow_graph::control_inputs_of(const node* n) const {
    std::vector<const node*> all;
    for (const auto* c : n->control_inputs)
        if (c->inside == asked_.within && (!asked_.part || asked_.part->nodes.contains(c))) all.push_back(c);
    return all;
}

RILL_COLD void flow_graph::find_needed() {
    hash_set<const node*> seen;
    std::vector<const node*> open;
    const auto need = [&](const node* n) {
        if (seen.insert(n)) open.push_back(n);
    };
    const auto take = [&](endpoint e) {
        if (e = of(e); !fed(e)) need(e.from);
    };
    for (const auto& e : asked_.fetches) take(e);
    for (const auto* t : asked_.targets) need(t);
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        nodes_.push_back(n);
        const auto flow = n->op->flow();
        has_primitives_ = has_primitives_ || flow;
        for (const auto& e : n->inputs) take(e);
        for (const auto* c : control_inputs_of(n)) need(c);
        if (flow.what != control_flow_kind::form::merges || n->inputs.size() != 1) continue;
        const auto back = n->owner->back_edge(n);
        if (!back)
            throw invalid_argument("merge: the loop of '" + n->name +
                                   "' is open: close_loop says what comes back to it (" + place_of(*n) + ")");
        back_.try_emplace(n, back);
        take(back);
    }
    detail::sort(nodes_, [](const node* a, const node* b) { return a->id < b->id; });
}

/// Returns the innermost frame among those of its inputs. Throws invalid_argument if two inputs lie in loops that are not nested.
RILL_COLD int flow_graph::deepest(const node* n) {
    int deep = outside;
    const node* there = nullptr;
    const auto look = [&](const node* from) {
        const auto at = frame_of_.find(from);
        if (at == frame_of_.end()) return; // fed
        int f = one_of(at->second);
        if (lies_in(deep, f)) return;
        while (!lies_in(f, deep) && unite(deep, f)) { // outer loops first: only then do the inner ones have one parent
            deep = one_of(deep);
            f = one_of(f);
            if (lies_in(deep, f)) return;
        }
        if (!lies_in(f, deep))
            throw invalid_argument(n->op->label() + ": '" + n->name + "' takes '" + there->name + "' of the loop '" +
                                   frames_[deep].name + "' and '" + from->name + "' of the loop '" + frames_[f].name +
                                   "', neither of which lies in the other: what a loop gives, leave brings out (" +
                                   place_of(*n) + ")");
        deep = f;
        there = from;
    };
    for (const auto& e : n->inputs)
        if (const auto in = of(e); !fed(in)) look(in.from);
    for (const auto* c : control_inputs_of(n)) look(c);
    return deep;
}

RILL_COLD int flow_graph::entered(int parent, const node* n) {
    const auto& name = *n->op->flow().frame;
    for (std::size_t f = 1; f < frames_.size(); ++f)
        if (parent_of(static_cast<int>(f)) == parent && frames_[f].name == name) return one_of(static_cast<int>(f));
    frames_.push_back({parent, name, n});
    return static_cast<int>(frames_.size()) - 1;
}

/// Merges two frames of one name whose values meet, if the parent of one lies in that of the other. The merged frame lies in the inner
/// parent. Returns false if there are none.
RILL_COLD bool flow_graph::unite(int a, int b) {
    for (int x = a; x != outside; x = parent_of(x))
        for (int y = b; y != outside; y = parent_of(y)) {
            if (x == y || frames_[x].name != frames_[y].name || lies_in(x, y) || lies_in(y, x)) continue;
            const int of_x = parent_of(x), of_y = parent_of(y);
            if (!lies_in(of_x, of_y) && !lies_in(of_y, of_x)) continue;
            if (lies_in(of_x, of_y))
                frames_[y].same = x;
            else
                frames_[x].same = y;
            return true;
        }
    return false;
}

RILL_COLD void flow_graph::find_frames() {
    using form = control_flow_kind::form;
    for (const auto* n : nodes_) { // without back edges, inputs come before their readers
        int f = deepest(n);
        const auto what = n->op->flow().what;
        const bool begins = what == form::merges && back(n);
        if (f == outside &&
            (what == form::leaves || what == form::next_iteration || what == form::loop_condition || begins))
            throw invalid_argument(n->op->label() + ": '" + n->name +
                                   "' lies in no loop: what it takes did not enter any (" + place_of(*n) + ")");
        if (what == form::enters) f = entered(f, n);
        if (what == form::leaves) f = parent_of(f);
        frame_of_.try_emplace(n, f);
    }
    for (const auto& [merge, next] : back_) {
        const auto end = of(next);
        if (!fed(end) && frame_of(end.from) != frame_of(merge))
            throw invalid_argument("merge: what comes back to '" + merge->name + "' of the loop '" +
                                   frames_[frame_of(merge)].name + "' lies in another one (" + place_of(*end.from) +
                                   ")");
    }
    const auto refuse = [&](const node* n, const std::string& what) {
        throw invalid_argument("fetch: '" + what + "' lies in the loop '" + frames_[frame_of(n)].name +
                               "': leave brings values out of it (" + place_of(*n) + ")");
    };
    for (const auto& e : asked_.fetches)
        if (const auto end = of(e); !fed(end) && frame_of(end.from) != outside) refuse(end.from, name_of(e));
    for (const auto* t : asked_.targets)
        if (frame_of(t) != outside) refuse(t, t->name);
}

}}} // namespace rill::RILL_ABI::detail
