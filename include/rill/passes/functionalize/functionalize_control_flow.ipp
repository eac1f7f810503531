// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/functionalize/functionalize_control_flow.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/shared.hpp>
#include <rill/passes/functionalize/loop_structure.hpp>
#include <rill/passes/functionalize/merge_groups.hpp>
#include <rill/passes/functionalize/region_builder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class functionalizer {
public:
    functionalizer(const flow_graph& g, const flow_ops& ops, bool regions)
        : g_(g), regions_(regions), made_(g.asked().within, g.asked().part, ops) {}

    std::shared_ptr<const functionalized_graph> run() {
        group();
        sort();
        for (const int v : order_) find_when(v);
        branches_ = branches_ && regions_ && all_are_live();
        if (branches_) find_branches();
        spread();
        if (std::exchange(branches_, branches_ && !blocks_branch_conversion()) != branches_) spread();
        for (const auto& v : vertices_)
            if (v.loop && !v.is_dataflow && v.when.empty()) add_loop(v);
        if (branches_)
            for (const auto& c : choices_) add_branches(c);
        add_rest();
        return detail::make_shared<const functionalized_graph>(std::move(made_));
    }

private:
    using form = control_flow_kind::form;
    /// The conditions under which a value is live: outcomes of predicates, as (node, port, outcome).
    using conditions = std::set<std::tuple<const node*, int, int>>;
    struct choice;

    /// A node outside every loop, or an outermost loop with all its nodes.
    struct vertex {
        std::vector<const node*> nodes;
        int frame = flow_graph::outside;
        std::vector<endpoint> inputs;
        hash_set<int> before;
        conditions when;
        std::set<int> needed; // choices that it depends on
        int choice = -1;      // the choice in whose bodies it lies; -1: none
        std::optional<loop_structure> loop;
        bool is_dataflow = false;
    };
    /// Merges of one predicate, none of which depends on another: they become one Case.
    struct choice {
        endpoint predicate;
        std::vector<std::pair<const node*, int>> merges; // with the input that is live if the predicate holds
        std::vector<region_builder> bodies = {};         // if the predicate holds, then if not
        std::vector<endpoint> passed = {};               // values that later choices of the predicate read
    };

    const vertex* vertex_with(const node* n) const {
        const auto at = vertex_of_.find(n);
        return at == vertex_of_.end() ? nullptr : &vertices_[at->second];
    }

    // ---- vertices --------------------------------------------------------------------------------------------------------

    void group() {
        hash_map<int, int> of_frame;
        for (const auto* n : g_.nodes()) {
            int f = frame_of_inputs(g_, n);
            while (g_.parent_of(f) > flow_graph::outside) f = g_.parent_of(f);
            int v = static_cast<int>(vertices_.size());
            if (f != flow_graph::outside) v = of_frame.try_emplace(f, v).at->second;
            if (v == static_cast<int>(vertices_.size())) vertices_.emplace_back().frame = f;
            vertices_[v].nodes.push_back(n);
            vertex_of_[n] = v;
        }
        for (const auto* n : g_.nodes()) {
            auto& v = vertices_[vertex_of_[n]];
            const auto here = vertex_of_[n];
            for (const auto& i : n->inputs) {
                const auto e = g_.of(i);
                used_.insert({e.from, e.port});
                if (!g_.fed(e) && vertex_of_[e.from] == here && g_.frame_of(e.from) == flow_graph::outside)
                    waits_for_itself(v);
                if (g_.fed(e) || vertex_of_[e.from] == here) continue;
                v.inputs.push_back(e);
                v.before.insert(vertex_of_[e.from]);
            }
            for (const auto* c : g_.control_inputs_of(n)) {
                if (vertex_of_[c] != here) v.before.insert(vertex_of_[c]);
                if (v.frame == flow_graph::outside && c->op->flow().what == form::switches)
                    branches_ = false; // a switch that has become a branch is not a node to wait for
            }
        }
        for (const auto& f : g_.asked().fetches) used_.insert({g_.of(f).from, g_.of(f).port});
    }
    void sort() {
        std::vector<std::vector<int>> next(vertices_.size());
        std::vector<std::size_t> missing;
        std::priority_queue<int, std::vector<int>, std::greater<>> ready;
        for (std::size_t v = 0; v < vertices_.size(); ++v) {
            for (const int b : vertices_[v].before) next[b].push_back(static_cast<int>(v));
            missing.push_back(vertices_[v].before.size());
            if (missing.back() == 0) ready.push(static_cast<int>(v));
        }
        while (!ready.empty()) {
            order_.push_back(ready.top());
            ready.pop();
            for (const int n : next[order_.back()])
                if (--missing[n] == 0) ready.push(n);
        }
        if (order_.size() == vertices_.size()) return;
        for (std::size_t v = 0; v < vertices_.size(); ++v)
            if (missing[v] > 0 && vertices_[v].frame != flow_graph::outside) waits_for_itself(vertices_[v]);
    }
    [[noreturn]] void waits_for_itself(const vertex& v) const {
        const auto& f = g_.frames()[v.frame];
        throw invalid_argument("enter: the loop '" + f.name + "' depends on its own result (" + place_of(*f.enter) +
                               ")");
    }

    // ---- liveness --------------------------------------------------------------------------------------------------------

    bool is_outer(const node* n, form what) const {
        return n->op->flow().what == what && vertices_[vertex_of_.at(n)].frame == flow_graph::outside;
    }
    conditions when(const endpoint& e) const {
        if (g_.fed(e)) return {};
        auto all = vertices_[vertex_of_.at(e.from)].when;
        if (is_outer(e.from, form::switches)) {
            const auto p = g_.of(e.from->inputs[1]);
            all.insert({p.from, p.port, e.port});
        }
        return all;
    }
    void find_when(int number) {
        auto& v = vertices_[number];
        const node* n = v.nodes[0];
        for (const int b : v.before) v.needed.insert(vertices_[b].needed.begin(), vertices_[b].needed.end());
        for (const int b : v.before) // an input's conditions come from its endpoint, below
            if (detail::none_of(v.inputs, [&](const endpoint& e) { return vertex_of_.at(e.from) == b; }))
                v.when.merge(conditions(vertices_[b].when));
        if (v.frame == flow_graph::outside && n->op->flow().what == form::merges) return merge_when(v, n);
        for (const auto& e : v.inputs) v.when.merge(when(e));
        for (const auto& [from, port, way] : v.when)
            if (v.when.contains({from, port, 1 - way})) branches_ = false; // never live
        if (v.frame != flow_graph::outside && v.when.empty() && regions_) v.loop = find_loop(g_, v.frame, v.nodes);
    }
    /// Finds the conditions of a merge. The merge is live for both outcomes of the predicate that tells its inputs apart.
    void merge_when(vertex& v, const node* n) {
        if (n->inputs.size() != 2) {
            branches_ = false;
            for (const auto& e : v.inputs) v.when.merge(when(e));
            return;
        }
        const auto a = when(g_.of(n->inputs[0])), b = when(g_.of(n->inputs[1]));
        conditions both = v.when, of_a, of_b;
        std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
        std::ranges::set_difference(a, b, std::inserter(of_a, of_a.end()));
        std::ranges::set_difference(b, a, std::inserter(of_b, of_b.end()));
        v.when = std::move(both);
        const auto differs = [](const auto& x, const auto& y) {
            return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y);
        };
        if (of_a.size() != 1 || of_b.size() != 1 || !differs(*of_a.begin(), *of_b.begin())) {
            branches_ = false;
            return;
        }
        if (!v.when.empty()) return; // nested in a branch, which handles it when it is compiled
        const auto [from, port, way] = *of_a.begin();
        const int group = groups_.add({from, port}, v.needed);
        if (group == static_cast<int>(choices_.size())) choices_.push_back({{from, port}, {}});
        choices_[group].merges.emplace_back(n, way == 1 ? 0 : 1);
        v.needed = {group};
    }
    bool all_are_live() const {
        return detail::all_of(g_.asked().fetches, [&](const endpoint& e) { return when(g_.of(e)).empty(); }) &&
               detail::all_of(g_.asked().targets, [&](const node* t) {
                   return vertices_[vertex_of_.at(t)].when.empty() && !is_outer(t, form::switches);
               });
    }

    // ---- branches --------------------------------------------------------------------------------------------------------

    void find_branches() {
        for (int number = 0; number < static_cast<int>(choices_.size()); ++number)
            for (const int way : {1, 0}) find_branch(number, way);
    }
    void find_branch(int number, int way) {
        auto& c = choices_[number];
        endpoint_map same;
        for (const auto* n : g_.nodes())
            if (is_outer(n, form::switches) && g_.of(n->inputs[1]) == c.predicate) same[{n, way}] = n->inputs[0];
        const std::tuple<const node*, int, int> live{c.predicate.from, c.predicate.port, way};
        const auto inside = [this, live, number](const node* n) {
            const auto* v = vertex_with(n);
            return v && v->when.contains(live) && (v->choice < 0 || v->choice == number);
        };
        region_builder builder(g_, inside, same, {});
        for (const auto& [m, holds] : c.merges) {
            const int input = way == 1 ? holds : 1 - holds;
            builder.give(m->inputs[input]);
            if (used_.contains({m, 1})) builder.give(made_.number(input, *m));
        }
        for (const auto* n : builder.nodes()) vertices_[vertex_of_.at(n)].choice = number;
        // otherwise the value belongs to two branches, neither of which is nested in the other
        for (const auto& e : builder.captures()) branches_ = branches_ && (when(e).empty() || pass(e, c, way));
        for (const auto* n : builder.waits()) branches_ = branches_ && vertices_[vertex_of_.at(n)].when.empty();
        c.bodies.push_back(std::move(builder));
    }
    /// Lets an earlier choice of the same predicate pass a value to this one, so that it is computed once. Returns false if this is
    /// impossible.
    bool pass(const endpoint& e, const choice& to, int way) {
        const int number = vertices_[vertex_of_.at(e.from)].choice;
        if (number < 0) return false;
        auto& from = choices_[number];
        if (from.predicate != to.predicate || when(e) != conditions{{to.predicate.from, to.predicate.port, way}})
            return false;
        auto& giver = from.bodies[1 - way];
        if (!giver.nodes().contains(e.from)) return false;
        if (detail::contains(from.passed, e)) return true;
        from.passed.push_back(e);
        giver.give(e);
        from.bodies[way].give({});
        return true;
    }
    void add_branches(const choice& c) {
        const node* first = c.merges[0].first;
        const node* n = add({region_attributes::form::choose}, {c.predicate}, c.bodies, *first, first->name);
        int port = 0;
        for (const auto& [m, holds] : c.merges) {
            made_.replace(m, n);
            made_.replace({m, 0}, {n, port++});
            if (used_.contains({m, 1})) made_.replace({m, 1}, {n, port++});
        }
        for (const auto& e : c.passed) made_.replace(e, {n, port++});
    }

    // ---- loops -----------------------------------------------------------------------------------------------------------

    void add_loop(const vertex& v) {
        const auto& f = g_.frames()[v.frame];
        endpoint_list operands;
        for (const auto* m : v.loop->merges) operands.push_back(g_.of(m->inputs[0]).from->inputs[0]);
        const node* n =
            add({region_attributes::form::repeat}, std::move(operands), v.loop->bodies, *v.loop->merges[0], f.name);
        for (const auto* l : v.loop->leaves) {
            const auto value = g_.of(g_.of(l->inputs[0]).from->inputs[0]);
            const auto at = detail::find(v.loop->merges, value.from) - v.loop->merges.begin();
            made_.replace(l, n);
            made_.replace({l, 0}, {n, static_cast<int>(at)});
        }
    }

    // ---- the rest --------------------------------------------------------------------------------------------------------

    /// Marks the vertices that run on the dataflow executor: those that can't be functionalized, and all that depend on one.
    void spread() {
        for (const int number : order_) {
            auto& v = vertices_[number];
            const bool primitive = v.frame == flow_graph::outside && v.nodes[0]->op->flow();
            v.is_dataflow = (primitive && !branches_) ||
                            (v.frame != flow_graph::outside && v.when.empty() && !v.loop) ||
                            detail::any_of(v.before, [&](int b) { return vertices_[b].is_dataflow; });
        }
    }
    bool blocks_branch_conversion() const {
        return detail::any_of(vertices_, [](const vertex& v) {
            return v.is_dataflow && (!v.when.empty() || (v.frame == flow_graph::outside && v.nodes[0]->op->flow()));
        });
    }
    void add_rest() {
        const node* first = nullptr;
        for (const auto& v : vertices_)
            if (v.is_dataflow && (!first || v.nodes[0]->id < first->id)) first = v.nodes[0];
        if (!first) return;
        const auto inside = [this](const node* n) {
            const auto* v = vertex_with(n);
            return v && v->is_dataflow;
        };
        std::vector<region_builder> builders;
        builders.emplace_back(g_, inside, endpoint_map(), std::vector<endpoint>());
        std::vector<endpoint> given;
        for (const auto& f : g_.asked().fetches) {
            const auto e = g_.of(f);
            if (g_.fed(e) || !inside(e.from) || detail::contains(given, e)) continue;
            given.push_back(e);
            builders[0].give(e);
        }
        std::vector<const node*> effects;
        for (const auto* t : g_.asked().targets)
            if (inside(t)) {
                effects.push_back(t);
                builders[0].effect(t);
            }
        const node* n = add({region_attributes::form::call}, {}, builders, *first, first->name);
        for (std::size_t i = 0; i < given.size(); ++i) made_.replace(given[i], {n, static_cast<int>(i)});
        for (const auto* t : effects) made_.replace(t, n);
    }

    const node* add(region_attributes use, endpoint_list operands, const std::vector<region_builder>& bodies,
                    const node& in_place_of, const std::string& name) {
        std::vector<const node*> waits;
        for (const auto& b : bodies)
            for (const auto* c : b.waits())
                if (vertex_of_.at(c) != vertex_of_.at(&in_place_of)) note(waits, c);
        return made_.add(use, std::move(operands), bodies, waits, in_place_of, name);
    }

    const flow_graph& g_;
    bool regions_, branches_ = true;
    functionalized_graph made_;
    std::vector<vertex> vertices_;
    hash_map<const node*, int> vertex_of_;
    std::vector<int> order_;
    merge_groups groups_;
    std::vector<choice> choices_; // by group number
    hash_set<std::pair<const node*, int>> used_;
};

RILL_COLD std::shared_ptr<const functionalized_graph> functionalize_control_flow(const flow_request& asked,
                                                                                 const flow_ops& ops, bool regions) {
    if (const flow_graph g(asked); g.has_primitives()) return functionalizer(g, ops, regions).run();
    return asked.part ? detail::make_shared<const functionalized_graph>(asked.within, asked.part) : nullptr;
}

}}} // namespace rill::RILL_ABI::detail
