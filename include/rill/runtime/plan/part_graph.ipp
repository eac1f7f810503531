// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/part_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/graph/op/exchange_ops.hpp>
#include <rill/passes/region_share.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class part_graph_maker {
public:
    part_graph_maker(const part& p, const graph& of) : part_(p), from_(of), ops_(*registered_exchange_ops.load()) {
        made_.of.set_seed(of.seed());
        made_.device = to_string(p.where->full);
        made_.feed_numbers = p.feeds;
        made_.fetch_numbers = p.fetches;
    }

    part_graph make() && {
        const auto& g = part_.steps;
        for (std::size_t f = 0; f < g.feeds.size(); ++f)
            made_.feeds.push_back({add_feed(g.feeds[f], part_.feeds[f]), 0});
        const auto ends = add_items(g, made_.feeds);
        for (const auto& f : g.fetches) made_.fetches.push_back(value(ends, f));
        for (const int t : g.targets) made_.targets.push_back(ends[static_cast<std::size_t>(t)].from);
        return std::move(made_);
    }

private:
    /// Returns the end of a value, from those of outputs 0 of the items.
    static endpoint value(const std::vector<endpoint>& ends, const subgraph::value& v) {
        const auto& first = ends[static_cast<std::size_t>(v.item)];
        return {first.from, first.port + v.port};
    }

    /// Returns a name for an added node that no node of the run has.
    std::string added(const std::string& what, std::int64_t number) const {
        std::string name = "_x/" + what + "_" + std::to_string(number);
        while (from_.state().find(name)) name += "_";
        return name;
    }

    const node* add_feed(const endpoint& fed, int number) {
        const bool is_placeholder = fed.from->op->role() == op_role::placeholder;
        node_spec spec;
        spec.op = is_placeholder ? fed.from->op : ops_.placeholder(type_of(fed));
        spec.name = is_placeholder ? fed.from->name : added("feed", number);
        spec.where = fed.from->where;
        return made_.of.state().add(std::move(spec));
    }

    /// Adds the items of the part, or of its share of body `of`, and returns the ends of their outputs 0. `fed`: the ends of the feeds.
    std::vector<endpoint> add_items(const subgraph& g, const std::vector<endpoint>& fed, const region* inside = nullptr,
                                    const region* of = nullptr) {
        std::vector<endpoint> ends;
        for (const auto& it : g.items) {
            if (it.feed >= 0)
                ends.push_back(fed[static_cast<std::size_t>(it.feed)]);
            else if (inside && it.origin && it.origin->inside != of)
                ends.push_back(itself({it.origin, 0})); // a variable or constant outside of the body
            else
                ends.push_back({add(it, ends, inside), 0});
            if (it.origin) copies_[it.origin] = ends.back().from;
        }
        return ends;
    }

    const node* add(const subgraph::item& it, const std::vector<endpoint>& ends, const region* inside) {
        node_spec spec;
        spec.op = it.op ? it.op : ops_.snapshot();
        spec.inside = inside;
        for (const auto& v : it.inputs) spec.inputs.push_back(value(ends, v));
        for (const int a : it.after) spec.control_inputs.push_back(ends[static_cast<std::size_t>(a)].from);
        const auto* there = it.device ? it.device : part_.where;
        spec.device = to_string(there->full);
        if (!it.origin) {
            spec.name = added(it.op ? it.op->label() : "copy", it.edge >= 0 ? it.edge : ++added_);
            return made_.of.state().add(std::move(spec));
        }
        const node& n = *it.origin;
        spec.name = n.name;
        spec.where = n.where;
        if (it.op == n.op) spec.outputs = n.outputs;
        if (it.share)
            add_shares(it, spec);
        else if (n.bodies)
            add_bodies(n, spec);
        const node* made = made_.of.state().add(std::move(spec));
        if (n.op->role() == op_role::variable)
            if (auto first = n.owner->value(&n); !first.empty()) made_.of.state().set_value(made, std::move(first));
        return made;
    }

    // ---- bodies ----------------------------------------------------------------------------------------------------------

    /// Adds the part's share of the bodies of a node that is cut.
    void add_shares(const subgraph::item& it, node_spec& spec) {
        const node& n = *it.origin;
        const auto& share = *it.share;
        const bool chooses = it.op->regions()->how == region_attributes::form::choose;
        for (const int port : share.outputs) spec.outputs.push_back(n.output(port));
        spec.scope_of_its_own = true;
        for (std::size_t k = 0; k < share.bodies.size(); ++k) {
            const body& whole = (*n.bodies)[k];
            const auto& own = share.bodies[k];
            body made;
            const auto* in = made_.of.state().add_region(spec.inside, whole.of->name, whole.of->where);
            made.of = in;
            std::vector<endpoint> all(whole.arguments.size() + whole.captures.size()); // per feed of the whole body
            if (!chooses)
                for (const int a : share.operands) {
                    const auto& argument = whole.arguments[static_cast<std::size_t>(a)];
                    node_spec inner; // any value of a body may be one that is fed
                    const bool is_argument = argument.from->op->role() == op_role::placeholder;
                    inner.op = is_argument ? argument.from->op : ops_.placeholder(type_of(argument));
                    inner.name = argument.from->name;
                    inner.where = argument.from->where;
                    inner.inside = in;
                    inner.outputs.push_back(type_of(argument));
                    made.arguments.push_back({made_.of.state().add(std::move(inner)), 0});
                    all[static_cast<std::size_t>(a)] = made.arguments.back();
                }
            std::vector<endpoint> fed;
            for (const int f : own.feeds) {
                auto& end = all[static_cast<std::size_t>(f)];
                if (!end) {
                    const int input = whole.captured[static_cast<std::size_t>(f) - whole.arguments.size()];
                    const auto at = detail::find(share.inputs, input) - share.inputs.begin();
                    end = spec.inputs[static_cast<std::size_t>(at)];
                    made.captures.push_back(end);
                    made.captured.push_back(static_cast<int>(at));
                }
                fed.push_back(end);
            }
            const auto ends = add_items(own.steps, fed, in, whole.of);
            for (const int r : own.results)
                made.results.push_back(r < 0 ? endpoint()
                                             : value(ends, own.steps.fetches[static_cast<std::size_t>(r)]));
            for (const int t : own.steps.targets) made.effects.push_back(ends[static_cast<std::size_t>(t)].from);
            spec.bodies.push_back(std::move(made));
        }
        spec.bodies.sized = n.bodies->sized;
    }

    void add_bodies(const node& n, node_spec& spec) {
        if (any_of(*n.bodies, [](const body& b) { return b.functionalized != nullptr; }))
            throw unimplemented(error_at(
                n, n.op->label(), "control-flow primitives can't run in a part of a run; use while_loop and cond"));
        outer_ = {};
        const auto inputs = spec.inputs;
        for (const auto& b : *n.bodies)
            for (std::size_t k = 0; k < b.captures.size(); ++k)
                outer_[key(b.captures[k])] = inputs[static_cast<std::size_t>(b.captured[k])];
        spec.bodies = copy_bodies(n, spec.inside);
        spec.scope_of_its_own = true;
    }

    static std::pair<const node*, int> key(const endpoint& e) { return {e.from, e.port}; }

    node_bodies copy_bodies(const node& n, const region* parent) {
        node_bodies all;
        for (const auto& b : *n.bodies) {
            body made;
            auto& copied = regions_[b.of];
            if (!copied) copied = made_.of.state().add_region(parent, b.of->name, b.of->where);
            made.of = copied;
            for (const auto* inner : nodes_of(b)) copy_inner(*inner, made.of);
            for (const auto& e : b.arguments) made.arguments.push_back(seen_inside(e));
            for (const auto& e : b.results) made.results.push_back(e ? seen_inside(e) : endpoint());
            for (const auto& e : b.captures) made.captures.push_back(seen_inside(e));
            made.captured = b.captured;
            for (const auto* e : b.effects) made.effects.push_back(copies_.at(e));
            all.push_back(std::move(made));
        }
        all.sized = n.bodies->sized;
        return all;
    }

    /// Returns the nodes of a body that its results and effects need, in order of creation.
    static std::vector<const node*> nodes_of(const body& b) {
        std::vector<const node*> open(b.effects), found;
        const auto visit = [&](const endpoint& e) {
            if (e && e.from->inside == b.of) open.push_back(e.from);
        };
        for (const auto* ends : {&b.results, &b.arguments})
            for (const auto& e : *ends) visit(e);
        hash_set<const node*> seen;
        while (!open.empty()) {
            const node* n = open.back();
            open.pop_back();
            if (!seen.insert(n)) continue;
            found.push_back(n);
            for (const auto& e : n->inputs) visit(e);
            if (n->bodies)
                for (const auto& inner : *n->bodies)
                    for (const auto& e : inner.results) visit(e);
            for (const auto* c : n->control_inputs)
                if (c->inside == b.of) open.push_back(c);
        }
        sort(found, [](const node* a, const node* c) { return a->id < c->id; });
        return found;
    }

    void copy_inner(const node& n, const region* inside) {
        if (copies_.contains(&n)) return;
        node_spec spec;
        spec.op = n.op;
        spec.name = n.name;
        spec.where = n.where;
        spec.inside = inside;
        spec.outputs = n.outputs;
        const auto written = n.op->writes();
        for (std::size_t k = 0; k < n.inputs.size(); ++k)
            spec.inputs.push_back(contains(written, static_cast<std::int32_t>(k)) ? itself(n.inputs[k])
                                                                                  : seen_inside(n.inputs[k]));
        for (const auto* c : n.control_inputs)
            if (c->inside == n.inside && copies_.contains(c)) spec.control_inputs.push_back(copies_.at(c));
        const auto beside = copies_.find(n.colocated);
        spec.device = beside != copies_.end() ? n.device : requested_device(n);
        if (beside != copies_.end()) spec.colocated = beside->second;
        if (n.bodies) {
            spec.scope_of_its_own = true;
            spec.bodies = copy_bodies(n, inside);
        }
        copies_[&n] = made_.of.state().add(std::move(spec));
    }

    /// Returns the value as a copied body reads it.
    endpoint seen_inside(const endpoint& e) {
        const auto at = outer_.find(key(e));
        return at != outer_.end() ? at->second : itself(e);
    }

    /// Returns the copy of a value: of a body, of this part, or a constant.
    endpoint itself(const endpoint& e) {
        if (const auto at = copies_.find(e.from); at != copies_.end()) return {at->second, e.port};
        if (!e.from->op->constant())
            throw internal("part graph: '" + e.from->name + "' is read in a body and lies in no part");
        node_spec spec; // bodies read constants outside of them as they are
        spec.op = e.from->op;
        spec.name = e.from->name;
        spec.where = e.from->where;
        const node* made = copies_[e.from] = made_.of.state().add(std::move(spec));
        return {made, e.port};
    }

    const part& part_;
    const graph& from_;
    const exchange_ops& ops_;
    part_graph made_;
    hash_map<const node*, const node*> copies_;
    endpoint_map outer_; // captures of the current node
    hash_map<const region*, const region*> regions_;
    std::int64_t added_ = 0; // nodes that belong to no edge
};

RILL_COLD part_graph make_part_graph(const part& p, const graph& of) { return part_graph_maker(p, of).make(); }

}}} // namespace rill::RILL_ABI::detail
