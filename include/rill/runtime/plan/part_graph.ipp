// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/part_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/graph/op/exchange_ops.hpp>
#include <rill/passes/functionalize/flow_graph.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>
#include <rill/passes/region_share.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class part_graph_maker {
public:
    part_graph_maker(const placed_part& p, const graph& of)
        : part_(p), from_(of), ops_(*registered_exchange_ops.load()) {
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
        add_targets(g, ends, made_.targets);
        return std::move(made_);
    }

private:
    /// Returns the endpoint of a value, given the endpoints of the items' outputs 0.
    endpoint value(const std::vector<endpoint>& ends, const subgraph::value& v) const {
        const auto& first = ends[static_cast<std::size_t>(v.item)];
        const endpoint e{first.from, first.port + v.port};
        const auto given = given_.find(key(e));
        return given == given_.end() ? e : given->second;
    }

    /// Returns an unused name for an added node.
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

    /// Adds the items of the part, or of its share of body `of`. Returns the endpoints of their outputs 0. `fed`: the endpoints of the
    /// feeds.
    std::vector<endpoint> add_items(const subgraph& g, const std::vector<endpoint>& fed, const region* inside = nullptr,
                                    const body* of = nullptr) {
        std::vector<endpoint> ends;
        for (const auto& it : g.items) {
            if (it.feed >= 0)
                ends.push_back(fed[static_cast<std::size_t>(it.feed)]);
            else if (it.origin && it.origin->bodies && runs_dataflow(*it.origin))
                ends.push_back({add_primitives(it, ends, inside), 0});
            else if (of && it.origin && is_outside(*it.origin, *of))
                ends.push_back(itself({it.origin, 0})); // a variable or constant outside of the body
            else
                ends.push_back({add(it, ends, inside), 0});
            // bodies made of primitives share nodes: each body gets its own constants
            const bool is_shared = of && of->functionalized && it.origin && it.origin->op->constant();
            if (it.origin && !is_shared) copies_[it.origin] = ends.back().from;
        }
        return ends;
    }

    /// Returns true if the node behind an item of a body lies outside the body.
    static bool is_outside(const node& n, const body& of) {
        if (!of.functionalized) return n.inside != of.of;
        return n.op->role() == op_role::variable || n.op->role() == op_role::resource;
    }

    const node* add(const subgraph::item& it, const std::vector<endpoint>& ends, const region* inside) {
        node_spec spec;
        spec.op = it.op ? it.op : ops_.snapshot();
        spec.inside = inside;
        for (const auto& v : it.inputs) spec.inputs.push_back(value(ends, v));
        add_controls(it, ends, spec);
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

    /// Adds the nodes that run for their effect.
    void add_targets(const subgraph& g, const std::vector<endpoint>& ends, std::vector<const node*>& to) const {
        for (const int t : g.targets)
            if (const auto* n = ends[static_cast<std::size_t>(t)].from; g.items[t].origin != n)
                to.push_back(n);
            else // primitives: the node represents them
                for (const auto* e : n->bodies->front().effects) to.push_back(copies_.at(e));
    }

    /// Adds the back edges of loops among copied nodes. `seen(e)` is the copy of a value.
    template <class Seen> void close_loops(const std::vector<const node*>& all, const Seen& seen) {
        std::vector<loop_edge> loops;
        for (const auto* n : all)
            if (const auto back = back_edge(*n)) loops.push_back({copies_.at(n), seen(back)});
        if (!loops.empty()) made_.of.state().close_loops(loops);
    }
    static endpoint back_edge(const node& n) { return n.op->flow() ? n.owner->back_edge(&n) : endpoint(); }

    /// Adds the control inputs of an item. Control inputs that the user gave to primitives run with the primitives. Other edges on them
    /// keep an order that the part's plan restores.
    static void add_controls(const subgraph::item& it, const std::vector<endpoint>& ends, node_spec& spec) {
        for (const int a : it.after)
            if (const auto* n = ends[static_cast<std::size_t>(a)].from; !(n->bodies && runs_dataflow(*n)))
                spec.control_inputs.push_back(n);
    }

    /// Adds the primitives that an item runs on the dataflow executor, with all nodes that depend on them. Returns the item's node, which
    /// represents their values.
    const node* add_primitives(const subgraph::item& it, const std::vector<endpoint>& ends, const region* inside) {
        const node& n = *it.origin;
        const body& whole = n.bodies->front();
        const auto& part = *whole.functionalized;
        const auto all = sorted({part.nodes.begin(), part.nodes.end()});
        const auto seen = [&](const endpoint& e) {
            const auto from = followed(part.same, e);
            if (part.nodes.contains(from.from)) return endpoint{copies_.at(from.from), from.port};
            const auto at = detail::find(n.inputs, from);
            if (at == n.inputs.end()) return itself(from);
            return value(ends, it.inputs[static_cast<std::size_t>(at - n.inputs.begin())]);
        };
        for (const auto* inner : all) {
            node_spec spec;
            spec.op = inner->op;
            spec.name = inner->name;
            spec.where = inner->where;
            spec.inside = inside;
            spec.outputs = inner->outputs;
            for (const auto& e : inner->inputs) spec.inputs.push_back(seen(e));
            for (const auto* c : inner->control_inputs)
                if (part.nodes.contains(c)) spec.control_inputs.push_back(copies_.at(c));
            const bool is_first = spec.control_inputs.empty() && none_of(inner->inputs, [&](const endpoint& e) {
                                      return part.nodes.contains(followed(part.same, e).from);
                                  });
            if (is_first) add_controls(it, ends, spec); // the others depend on a waiting node
            spec.device = requested_device(*inner);
            if (spec.device.empty()) spec.device = to_string(part_.where->full);
            if (inner->bodies) add_bodies(*inner, spec);
            copies_[inner] = made_.of.state().add(std::move(spec));
        }
        close_loops(all, seen);
        for (std::size_t r = 0; r < whole.results.size(); ++r)
            given_[key({&n, static_cast<int>(r)})] = seen(whole.results[r]);
        return &n;
    }

    // ---- bodies ----------------------------------------------------------------------------------------------------------

    /// Adds the part's share of the bodies of a partitioned node.
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
            const auto* in = whole.functionalized
                                 ? made_.of.state().add_region(spec.inside, n.name + "/body", n.where)
                                 : made_.of.state().add_region(spec.inside, whole.of->name, whole.of->where);
            made.of = in;
            std::vector<endpoint> all(whole.arguments.size() + whole.captures.size()); // per feed of the whole body
            if (!chooses)
                for (const int a : share.operands) {
                    made.arguments.push_back(add_argument(whole.arguments[static_cast<std::size_t>(a)], in));
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
            const auto ends = add_items(own.steps, fed, in, &whole);
            for (const int r : own.results)
                made.results.push_back(r < 0 ? endpoint()
                                             : value(ends, own.steps.fetches[static_cast<std::size_t>(r)]));
            add_targets(own.steps, ends, made.effects);
            spec.bodies.push_back(std::move(made));
        }
        spec.bodies.sized = n.bodies->sized;
    }

    void add_bodies(const node& n, node_spec& spec) {
        fed_ = {};
        copy_bodies(n, spec);
    }

    /// Adds an argument of a body in place of a fed value of the body. The value may belong to a node that computes it elsewhere.
    endpoint add_argument(const endpoint& e, const region* inside) {
        const bool is_argument = e.from->op->role() == op_role::placeholder;
        node_spec spec;
        spec.op = is_argument ? e.from->op : ops_.placeholder(type_of(e));
        spec.name = e.from->name;
        spec.where = e.from->where;
        spec.inside = inside;
        spec.outputs.push_back(type_of(e));
        const node* made = made_.of.state().add(std::move(spec));
        if (is_argument) copies_[e.from] = made; // the node may be a control input
        return {made, 0};
    }

    static std::pair<const node*, int> key(const endpoint& e) { return {e.from, e.port}; }

    /// A copy of a body, shared by variants of a node and by calls of a function.
    struct copied_body {
        const region* of = nullptr;
        std::vector<endpoint> arguments;
        endpoint_map captured; // values of this part, by capture
    };

    /// Adds copies of a node's bodies to its copy, whose inputs are known.
    void copy_bodies(const node& n, node_spec& spec) {
        spec.scope_of_its_own = true;
        spec.bodies.sized = n.bodies->sized;
        const auto first = first_copies_.find(first_variant(n));
        if (first != first_copies_.end()) spec.bodies.first_variant = first->second;
        for (const auto& b : *n.bodies) {
            body made;
            made.captured = b.captured;
            for (const int c : b.captured) made.captures.push_back(spec.inputs[static_cast<std::size_t>(c)]);
            if (differs(b, spec.inside, made.captures)) forget(b);
            auto& copied = bodies_[b.of];
            if (!copied.of) {
                copied.of = made_.of.state().add_region(spec.inside, b.of->name, b.of->where);
                for (const auto& e : b.arguments) copied.arguments.push_back(add_argument(e, copied.of));
            }
            for (std::size_t k = 0; k < b.captures.size(); ++k)
                fed_[key(b.captures[k])] = copied.captured[key(b.captures[k])] = made.captures[k];
            for (std::size_t k = 0; k < b.arguments.size(); ++k) fed_[key(b.arguments[k])] = copied.arguments[k];
            made.of = copied.of;
            made.arguments = copied.arguments;
            auto all = nodes_of(b);
            std::erase_if(all, [&](const node* inner) { return copy_of(inner) != nullptr; });
            for (const auto* inner : all) copy_inner(*inner, made.of);
            close_loops(all, [&](const endpoint& e) { return seen_inside(e); });
            for (const auto& e : b.results) made.results.push_back(e ? seen_inside(e) : endpoint());
            for (const auto* e : b.effects) made.effects.push_back(copies_.at(e));
            spec.bodies.push_back(std::move(made));
        }
    }

    /// Returns true if a body needs another copy: its copy lies in another body, or reads other values of the part, such as a variable
    /// before a write. `captures` are those of the new copy.
    bool differs(const body& b, const region* inside, const std::vector<endpoint>& captures) const {
        const auto at = bodies_.find(b.of);
        if (at == bodies_.end() || !at->second.of) return false;
        const auto& captured = at->second.captured;
        for (std::size_t k = 0; k < captures.size(); ++k)
            if (const auto known = captured.find(key(b.captures[k])); known != captured.end())
                if (!(known->second == captures[k])) return true;
        return at->second.of->parent != inside;
    }

    /// Makes the next use of a body copy its nodes again.
    void forget(const body& b) {
        bodies_[b.of] = {};
        for (const auto* n : nodes_of(b)) {
            copies_[n] = nullptr;
            first_copies_[first_variant(*n)] = nullptr;
            if (!n->bodies) continue;
            for (const auto& inner : *n->bodies) forget(inner);
        }
    }

    /// Returns the nodes that a body's results and effects need, in order of creation. Nodes that compute a fed value are omitted: the node
    /// with the body need not have their inputs.
    static std::vector<const node*> nodes_of(const body& b) {
        std::vector<const node*> open(b.effects), found;
        const auto visit = [&](const endpoint& e) {
            if (e && e.from->inside == b.of && !contains(b.arguments, e) && !contains(b.captures, e))
                open.push_back(e.from);
        };
        for (const auto& e : b.results) visit(e);
        hash_set<const node*> seen;
        while (!open.empty()) {
            const node* n = open.back();
            open.pop_back();
            if (!seen.insert(n)) continue;
            found.push_back(n);
            for (const auto& e : n->inputs) visit(e);
            if (const auto back = back_edge(*n)) visit(back);
            if (n->bodies)
                for (const auto& inner : *n->bodies)
                    for (const auto& e : inner.results) visit(e);
            for (const auto* c : n->control_inputs)
                if (c->inside == b.of) open.push_back(c);
        }
        return sorted(std::move(found));
    }
    static std::vector<const node*> sorted(std::vector<const node*> all) {
        sort(all, [](const node* a, const node* b) { return a->id < b->id; });
        return all;
    }

    void copy_inner(const node& n, const region* inside) {
        if (copy_of(&n)) return;
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
            if (const auto* copy = c->inside == n.inside ? copy_of(c) : nullptr) spec.control_inputs.push_back(copy);
        spec.colocated = copy_of(n.colocated);
        spec.device = spec.colocated ? n.device : requested_device(n);
        if (n.bodies) copy_bodies(n, spec);
        const node* made = copies_[&n] = made_.of.state().add(std::move(spec));
        if (!n.bodies) return;
        if (auto& first = first_copies_[first_variant(n)]; !first) first = made;
    }

    /// Returns the copy of a node; null if it has none.
    const node* copy_of(const node* n) const {
        const auto at = copies_.find(n);
        return at == copies_.end() ? nullptr : at->second;
    }

    /// Returns the value that a copied body reads for `e`.
    endpoint seen_inside(const endpoint& e) {
        const auto at = fed_.find(key(e));
        return at != fed_.end() ? at->second : itself(e);
    }

    /// Returns the copy of a value of a body or of this part, or of a constant.
    endpoint itself(const endpoint& e) {
        if (const auto* copy = copy_of(e.from)) return {copy, e.port};
        if (!e.from->op->constant())
            throw internal("part graph: '" + e.from->name + "' is read in a body and lies in no part");
        node_spec spec; // bodies read outer constants directly
        spec.op = e.from->op;
        spec.name = e.from->name;
        spec.where = e.from->where;
        const node* made = copies_[e.from] = made_.of.state().add(std::move(spec));
        return {made, e.port};
    }

    const placed_part& part_;
    const graph& from_;
    const exchange_ops& ops_;
    part_graph made_;
    hash_map<const node*, const node*> copies_;
    endpoint_map given_;                              // values of primitives, by output of the representing node
    endpoint_map fed_;                                // captures and arguments of the copied bodies of the current node
    hash_map<const node*, const node*> first_copies_; // by first variant of nodes in copied bodies: the first copy
    hash_map<const region*, copied_body> bodies_;
    std::int64_t added_ = 0; // number of added nodes without an edge
};

RILL_COLD part_graph make_part_graph(const placed_part& p, const graph& of) { return part_graph_maker(p, of).make(); }

}}} // namespace rill::RILL_ABI::detail
