// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// size: writing and reading mirror each other, part by part

#include <rill/graph/serialization/saved_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/names.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/graph/op/field_bytes.hpp>
#include <rill/graph/op/op_registry.hpp>
#include <rill/graph/scope.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// ---- saving --------------------------------------------------------------------------------------------------------------

/// Returns the nodes to save, in order of creation.
inline std::vector<const node*> nodes_to_save(const graph& g, const save_request& request) {
    auto all = g.nodes();
    if (request.wanted.empty()) return all;
    std::vector<char> needed(all.size());
    std::vector<const node*> open;
    const auto visit = [&](const node* n) {
        if (n->id < needed.size() && !std::exchange(needed[n->id], char(1)))
            open.push_back(n); // ignore nodes added since
    };
    for (const auto* n : request.wanted) {
        if (n->owner != &g.state()) throw invalid_argument("export_graph: '" + n->name + "' belongs to another graph");
        visit(n);
    }
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        for (const auto& e : n->inputs) visit(e.from);
        for (const auto* c : n->control_inputs) visit(c);
        if (n->bodies) {
            if (n->bodies->first_variant) visit(n->bodies->first_variant);
            for (const auto& b : *n->bodies) {
                for (const auto* ends : {&b.arguments, &b.results, &b.captures})
                    for (const auto& e : *ends)
                        if (e) visit(e.from);
                for (const auto* does : b.effects) visit(does);
            }
        }
        if (const auto* i = request.initializers ? g.state().initializer(n) : nullptr) visit(i);
        if (const auto back = g.state().back_edge(n)) visit(back.from);
    }
    std::erase_if(all, [&](const node* n) { return !needed[n->id]; });
    return all;
}

/// Saves the regions that the given nodes lie in or run, and the bodies of these nodes.
inline void save_regions(const graph& g, const std::vector<const node*>& all,
                         const hash_map<const node*, std::uint32_t>& place, saved_graph& saved) {
    hash_map<const region*, std::uint32_t> number;
    hash_set<const region*> needed;
    for (const auto* n : all) {
        for (const auto* r = n->inside; r; r = r->parent) needed.insert(r);
        if (n->bodies)
            for (const auto& b : *n->bodies) needed.insert(b.of);
    }
    for (const auto* r : g.state().regions()) {
        if (!needed.contains(r)) continue;
        number.try_emplace(r, static_cast<std::uint32_t>(saved.regions.size()));
        saved.regions.push_back({r->parent ? number.at(r->parent) + 1 : 0, r->name, {}});
    }
    const auto edges = [&](const std::vector<endpoint>& ends) {
        std::vector<saved_edge> out;
        for (const auto& e : ends)
            out.push_back(e ? saved_edge{place.at(e.from), static_cast<std::uint32_t>(e.port)}
                            : saved_edge{saved_body::none, 0});
        return out;
    };
    for (const auto* n : all) {
        if (n->inside) saved.regions[number.at(n->inside)].nodes.push_back(place.at(n));
        if (!n->bodies) continue;
        saved_bodies bodies{place.at(n), n->bodies->first_variant ? place.at(n->bodies->first_variant) + 1 : 0, {}};
        for (const auto& b : *n->bodies) {
            saved_body s{number.at(b.of), edges(b.arguments), edges(b.results), edges(b.captures), {}, {}};
            s.captured.assign(b.captured.begin(), b.captured.end());
            for (const auto* e : b.effects) s.effects.push_back(place.at(e));
            bodies.all.push_back(std::move(s));
        }
        saved.bodies.push_back(std::move(bodies));
    }
}

RILL_COLD saved_graph save_graph(const graph& g, const save_request& request) {
    saved_graph saved;
    saved.producer = "rill " + std::to_string(RILL_VERSION_MAJOR) + "." + std::to_string(RILL_VERSION_MINOR) + "." +
                     std::to_string(RILL_VERSION_PATCH);
    saved.seed = g.seed();
    const auto all = nodes_to_save(g, request);
    hash_map<const node*, std::uint32_t> place;
    for (const auto* n : all) place.try_emplace(n, static_cast<std::uint32_t>(place.size()));
    const auto edge = [&](const endpoint& e) {
        return saved_edge{place.at(e.from), static_cast<std::uint32_t>(e.port)};
    };
    for (const auto* n : all) {
        auto& s = saved.nodes.emplace_back();
        s.name = n->name;
        s.op = n->op->kernel_name();
        s.version = n->op->version();
        s.fields = bytes_of_fields(*n->op);
        for (const auto& e : n->inputs) s.inputs.push_back(edge(e));
        for (const auto* c : n->control_inputs) s.control_inputs.push_back(place.at(c));
        const auto beside = place.find(n->colocated);
        if (beside != place.end()) s.colocated = beside->second + 1;
        s.device = beside != place.end() ? n->device : requested_device(*n);
        s.outputs.assign(n->outputs.begin(), n->outputs.end());
        const auto* i = g.state().initializer(n);
        // a loop may have been closed after the nodes were listed: its back edge may come from an unlisted node
        if (const auto back = g.state().back_edge(n); place.contains(back.from))
            saved.loops.push_back({place.at(n), edge(back)});
        if (i && place.contains(i)) saved.initializers.emplace_back(place.at(n), place.at(i));
    }
    save_regions(g, all, place, saved);
    hash_map<const node*, any_array> given;
    for (const auto& [variable, value] : request.values) given[variable] = value;
    for (const auto* n : all) {
        if (!request.initializers || n->op->role() != op_role::variable) continue;
        const auto at = given.find(n);
        const any_array value = at == given.end() ? g.state().value(n) : at->second;
        if (!value.empty()) saved.values.push_back({place.at(n), bytes_of_array(value)});
    }
    for (const auto& [name, members] : g.state().collections()) {
        saved_collection c{name, {}};
        for (const auto& e : members)
            if (place.contains(e.from)) c.members.push_back(edge(e));
        if (!c.members.empty()) saved.collections.push_back(std::move(c));
    }
    return saved;
}

// ---- loading -------------------------------------------------------------------------------------------------------------

class graph_loader {
public:
    graph_loader(const saved_graph& saved, const std::source_location& where) : saved_(saved), where_(where) {}

    graph load() {
        check_names();
        make_ops();
        make_regions();
        for (at_ = 0; at_ < saved_.nodes.size(); ++at_) add_node();
        made_.set_seed(saved_.seed);
        add_initializers();
        add_values();
        close_loops();
        for (const auto& c : saved_.collections)
            for (const auto& e : c.members)
                made_.add_to_collection(c.name, checked(e, nodes_.size(), "the collection '" + c.name + "'"));
        return made_;
    }

private:
    std::string place(std::size_t i) const { return "node " + std::to_string(i) + " ('" + saved_.nodes[i].name + "')"; }
    [[noreturn]] void refuse(const std::string& why) const { throw invalid_argument(place(at_) + ": " + why); }

    /// Runs f, and adds the current node to its errors.
    template <class F> void at_node(const F& f) const {
        try {
            f();
        } catch (const lacking_ops&) {
            throw; // make_ops collects these
        } catch (...) {
            rethrow_described(
                [&](const std::string& what) { return what.starts_with("node ") ? what : place(at_) + ": " + what; });
        }
    }

    void check_names() {
        hash_set<std::string_view> names;
        for (at_ = 0; at_ < saved_.nodes.size(); ++at_) {
            const auto& name = saved_.nodes[at_].name;
            constexpr std::size_t most = 1024;
            if (name.size() > most || !valid_name(name) || name.back() == '/' || name.find("//") != std::string::npos)
                throw invalid_argument("node " + std::to_string(at_) + ": '" + name.substr(0, most) +
                                       "' is not a valid name");
            if (!names.insert(name)) refuse("another node has that name");
        }
    }

    /// Makes all ops, one for equal ones. Throws a single error that names every op this program lacks.
    void make_ops() {
        std::vector<std::string> lacking;
        const auto lacks = [&](std::string op) {
            if (!detail::contains(lacking, op)) lacking.push_back(std::move(op));
        };
        constexpr std::size_t small = 4096; // bytes: comparing longer fields costs more than sharing saves
        hash_map<std::tuple<std::string_view, int, std::string_view>, op_ptr> known;
        for (at_ = 0; at_ < saved_.nodes.size(); ++at_) {
            const auto& s = saved_.nodes[at_];
            const auto* const entry = find_op(s.op);
            const bool here = entry && entry->make;
            auto& op = ops_.emplace_back();
            if (!here || s.version < 1 || s.version > entry->version) {
                lacks(described(s.op, s.version, here ? entry->version : 0));
                continue;
            }
            if (s.fields.size() <= small) op = known[{s.op, s.version, s.fields}];
            if (op) continue;
            try {
                at_node([&] { op = make_op(s.op, s.version, s.fields); });
            } catch (const lacking_ops& more) {
                for (const auto& o : more.ops) lacks(o);
            }
            if (s.fields.size() <= small) known[{s.op, s.version, s.fields}] = op;
        }
        if (!lacking.empty()) throw lacking_ops(std::move(lacking));
    }

    void make_regions() {
        inside_.resize(saved_.nodes.size());
        std::vector<char> placed(saved_.nodes.size());
        for (const auto& r : saved_.regions) {
            const auto who = "region " + std::to_string(regions_.size());
            if (r.parent > regions_.size()) throw invalid_argument(who + " lies in one that does not come before it");
            if (!valid_name(r.name)) throw invalid_argument(who + " has no valid name");
            regions_.push_back(made_.state().add_region(r.parent ? regions_[r.parent - 1] : nullptr, r.name, where_));
            for (const auto n : r.nodes) {
                if (n >= placed.size() || std::exchange(placed[n], char(1)))
                    throw invalid_argument(who + " names node " + std::to_string(n) +
                                           ", which is not there or in two regions");
                inside_[n] = regions_.back();
            }
        }
        for (std::size_t i = 0; i < saved_.bodies.size(); ++i) {
            const auto n = saved_.bodies[i].node;
            if (n >= saved_.nodes.size() || !bodies_of_.try_emplace(n, i).is_new)
                throw invalid_argument("bodies " + std::to_string(i) + " belong to node " + std::to_string(n) +
                                       ", which is not there or has others");
        }
    }

    /// Returns the bodies of the current node.
    node_bodies bodies() const {
        node_bodies made;
        const auto found = bodies_of_.find(at_);
        if (found == bodies_of_.end()) return made;
        const auto& s = saved_.bodies[found->second];
        const auto who = "a body of " + place(at_);
        if (s.first_variant > 0) {
            made.first_variant = checked({s.first_variant - 1, 0}, at_, place(at_)).from;
            const node* original = made.first_variant;
            if (!original->bodies || original->bodies->first_variant || !original->op->equals(*ops_[at_]))
                refuse("is not a variant of '" + original->name + "'");
        }
        for (const auto& b : s.all) {
            auto& body = made.emplace_back();
            if (b.of >= regions_.size()) throw invalid_argument(who + " is not a region");
            body.of = regions_[b.of];
            const auto edges = [&](const std::vector<saved_edge>& from, bool may_be_null) {
                std::vector<endpoint> ends;
                for (const auto& e : from) {
                    ends.push_back(may_be_null && e.node == saved_body::none ? endpoint() : checked(e, at_, who));
                    if (ends.back() && ends.back().from->outputs.empty())
                        refuse("a body edge names a node without outputs");
                }
                return ends;
            };
            body.arguments = edges(b.arguments, false);
            body.results = edges(b.results, true);
            body.captures = edges(b.captures, false);
            body.captured.assign(b.captured.begin(), b.captured.end());
            for (const auto e : b.effects) body.effects.push_back(checked({e, 0}, at_, who).from);
        }
        return made;
    }

    /// Returns an edge as an endpoint. Throws invalid_argument unless it comes from one of the first `end` nodes.
    endpoint checked(const saved_edge& e, std::size_t end, const std::string& who) const {
        if (e.node >= end)
            throw invalid_argument(
                who + " names node " + std::to_string(e.node) +
                (end < saved_.nodes.size() ? ", which does not come before it" : ", which is not there"));
        const node* n = nodes_[e.node];
        // a node without outputs may be a member of a collection; add_node refuses it as an input
        if (e.port >= std::max<std::size_t>(n->outputs.size(), 1))
            throw invalid_argument(who + " names output " + std::to_string(e.port) + " of " + place(e.node) +
                                   ", which has " + std::to_string(n->outputs.size()));
        return {n, static_cast<int>(e.port)};
    }

    void close_loops() {
        std::vector<loop_edge> edges;
        for (const auto& [merge, back] : saved_.loops)
            edges.push_back(
                {checked({merge, 0}, nodes_.size(), "a back edge").from, checked(back, nodes_.size(), "a back edge")});
        made_.state().close_loops(edges);
    }

    void add_node() {
        const auto& s = saved_.nodes[at_];
        node_spec spec;
        spec.op = ops_[at_];
        spec.name = s.name;
        spec.where = where_;
        spec.inside = inside_[at_];
        spec.bodies = bodies();
        check_variant(spec, s);
        for (const auto& e : s.inputs) {
            spec.inputs.push_back(checked(e, at_, place(at_)));
            if (spec.inputs.back().from->outputs.empty()) refuse("takes " + place(e.node) + ", which has no value");
        }
        for (const auto c : s.control_inputs) spec.control_inputs.push_back(checked({c, 0}, at_, place(at_)).from);
        if (s.colocated > 0) spec.colocated = checked({s.colocated - 1, 0}, at_, place(at_)).from;
        at_node([&] {
            spec.device = to_string(parse_device(s.device));
            check_writes(spec);
            nodes_.push_back(made_.state().add(std::move(spec)));
        });
        check_outputs(s, *nodes_.back());
        for (std::size_t slash = s.name.find('/'); slash != std::string::npos; slash = s.name.find('/', slash + 1))
            scopes_.insert(std::string_view(s.name).substr(0, slash));
    }

    /// Throws invalid_argument unless a variant has the inputs and bodies of the first variant, and all of its results.
    void check_variant(const node_spec& spec, const saved_node& s) const {
        const node* first = spec.bodies.first_variant;
        if (!first) return;
        bool same = s.inputs.size() == first->inputs.size() && spec.bodies.size() == first->bodies->size();
        for (std::size_t i = 0; same && i < s.inputs.size(); ++i)
            same = checked(s.inputs[i], at_, place(at_)) == first->inputs[i];
        for (std::size_t i = 0; same && i < spec.bodies.size(); ++i) {
            const auto &a = spec.bodies[i], &b = (*first->bodies)[i];
            same = a.of == b.of && a.arguments == b.arguments && a.captures == b.captures && a.captured == b.captured &&
                   a.effects == b.effects && a.results.size() >= b.results.size() &&
                   std::equal(b.results.begin(), b.results.end(), a.results.begin());
        }
        if (!same) refuse("is not a variant of '" + first->name + "'");
    }

    /// Throws invalid_argument unless every input that the op writes is a variable, or the output of another write.
    void check_writes(const node_spec& spec) const {
        if (const auto* use = spec.op->regions(); use && !use->counts(spec.inputs.size()))
            refuse("its inputs are not as many as it says");
        for (const int w : spec.op->writes()) {
            if (w >= static_cast<int>(spec.inputs.size())) refuse("input " + std::to_string(w) + " is missing");
            const node* n = spec.inputs[w].from;
            int port = spec.inputs[w].port;
            while (n->op->role() != op_role::variable && port == 0 && n->op->alias() >= 0) {
                const auto& next = n->inputs[n->op->alias()];
                n = next.from, port = next.port;
            }
            if (n->op->role() != op_role::variable)
                refuse("writes '" + spec.inputs[w].from->name + "', which is not a variable");
        }
    }

    void check_outputs(const saved_node& s, const node& n) const {
        const auto differ = [&](std::size_t i) {
            return s.outputs[i].type != n.outputs[i].type || !rules::compatible(s.outputs[i].shape, n.outputs[i].shape);
        };
        if (s.outputs.size() != n.outputs.size())
            refuse("had " + std::to_string(s.outputs.size()) + " outputs, and has " + std::to_string(n.outputs.size()));
        for (std::size_t i = 0; i < s.outputs.size(); ++i) {
            const auto& t = n.outputs[i];
            if (differ(i)) refuse("gave " + to_string(s.outputs[i]) + ", and gives " + to_string(t));
            const bool room = !t.shape.complete() || t.countable();
            const bool whole = n.op->role() != op_role::variable || t.shape.complete();
            if (t.type == dtype::invalid || !room || !whole) refuse("gives " + to_string(t));
        }
    }

    void add_initializers() {
        for (const auto& [variable, assign] : saved_.initializers) {
            const node* v = checked({variable, 0}, nodes_.size(), "an initializer").from;
            const node* a = checked({assign, 0}, nodes_.size(), "an initializer").from;
            if (v->op->role() != op_role::variable || !a->op->initialises() || a->inputs.empty() ||
                a->inputs[0].from != v)
                throw invalid_argument("'" + a->name + "' is not an initializer of '" + v->name + "'");
            made_.state().set_initializer(v, a);
        }
        for (const auto& s : scopes_) made_.state().take_scope(std::string(s));
    }

    void add_values() {
        for (const auto& [variable, array] : saved_.values) {
            const node* v = checked({variable, 0}, nodes_.size(), "a value").from;
            if (v->op->role() != op_role::variable)
                throw invalid_argument("'" + v->name + "' has a value, and is not a variable");
            any_array value = array_of_bytes(array);
            if (value.type() != v->outputs[0])
                throw invalid_argument("the variable '" + v->name + "' is " + to_string(v->outputs[0]) +
                                       ", its value " + to_string(value.type()));
            made_.state().set_value(v, std::move(value));
        }
    }

    const saved_graph& saved_;
    std::source_location where_;
    graph made_;
    std::vector<op_ptr> ops_;
    std::vector<const node*> nodes_;
    std::vector<const region*> regions_, inside_; // all regions; the region of each node
    hash_map<std::size_t, std::size_t> bodies_of_;
    hash_set<std::string_view> scopes_;
    std::size_t at_ = 0;
};

RILL_COLD graph load_graph(const saved_graph& saved, const std::source_location& where) {
    return graph_loader(saved, where).load();
}

}}} // namespace rill::RILL_ABI::detail
