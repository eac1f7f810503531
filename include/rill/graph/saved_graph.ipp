// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/saved_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <rill/core/names.hpp>
#include <rill/core/shape_rules.hpp>
#include <rill/graph/field_bytes.hpp>
#include <rill/graph/op_registry.hpp>
#include <rill/graph/scope.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

// ---- to data -------------------------------------------------------------------------------------------------------------

/// Which nodes travel, in order.
inline std::vector<const node*> travelling(const graph& g, std::span<const node* const> wanted) {
    auto all = g.nodes();
    if (wanted.empty()) return all;
    std::vector<char> needed(all.size());
    std::vector<const node*> open;
    const auto visit = [&](const node* n) {
        if (n->id < needed.size() && !std::exchange(needed[n->id], char(1)))
            open.push_back(n); // later ones came meanwhile
    };
    for (const auto* n : wanted) {
        if (n->owner != &g.state()) throw invalid_argument("export_graph: '" + n->name + "' belongs to another graph");
        visit(n);
    }
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        for (const auto& e : n->inputs) visit(e.from);
        for (const auto* c : n->control_inputs) visit(c);
        if (const auto* i = g.state().initializer(n)) visit(i);
    }
    std::erase_if(all, [&](const node* n) { return !needed[n->id]; });
    return all;
}

RILL_COLD saved_graph save_graph(const graph& g, std::span<const node* const> wanted) {
    saved_graph saved;
    saved.producer = "rill " + std::to_string(RILL_VERSION_MAJOR) + "." + std::to_string(RILL_VERSION_MINOR) + "." +
                     std::to_string(RILL_VERSION_PATCH);
    saved.seed = g.seed();
    const auto all = travelling(g, wanted);
    std::unordered_map<const node*, std::uint32_t> place;
    for (const auto* n : all) place.emplace(n, static_cast<std::uint32_t>(place.size()));
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
        s.device = n->device;
        if (const auto at = place.find(n->colocated); at != place.end()) s.colocated = at->second + 1;
        s.outputs.assign(n->outputs.begin(), n->outputs.end());
        const auto* i = g.state().initializer(n);
        if (i && place.contains(i)) saved.initializers.emplace_back(place.at(n), place.at(i));
    }
    for (const auto& [name, members] : g.state().collections()) {
        saved_collection c{name, {}};
        for (const auto& e : members)
            if (place.contains(e.from)) c.members.push_back(edge(e));
        if (!c.members.empty()) saved.collections.push_back(std::move(c));
    }
    return saved;
}

// ---- from data -----------------------------------------------------------------------------------------------------------

class graph_loader {
public:
    graph_loader(const saved_graph& saved, const std::source_location& where) : saved_(saved), where_(where) {}

    graph load() {
        check_names();
        make_ops();
        for (at_ = 0; at_ < saved_.nodes.size(); ++at_) add_node();
        made_.set_seed(saved_.seed);
        add_initializers();
        for (const auto& c : saved_.collections)
            for (const auto& e : c.members)
                made_.add_to_collection(c.name, checked(e, nodes_.size(), "the collection '" + c.name + "'"));
        return made_;
    }

private:
    std::string place(std::size_t i) const { return "node " + std::to_string(i) + " ('" + saved_.nodes[i].name + "')"; }
    [[noreturn]] void refuse(const std::string& why) const { throw invalid_argument(place(at_) + ": " + why); }

    /// Runs f; its errors say which node it was.
    template <class F> void at_node(const F& f) const {
        try {
            f();
        } catch (const lacking_ops&) {
            throw; // which are gathered
        } catch (const error& problem) {
            const std::string text = problem.what();
            if (text.starts_with("node ")) throw;
            throw_error(problem.code(), place(at_) + ": " + text);
        }
    }

    void check_names() {
        std::unordered_set<std::string_view> names;
        for (at_ = 0; at_ < saved_.nodes.size(); ++at_) {
            const auto& name = saved_.nodes[at_].name;
            constexpr std::size_t most = 1024;
            if (name.size() > most || !valid_name(name) || name.back() == '/' || name.find("//") != std::string::npos)
                throw invalid_argument("node " + std::to_string(at_) + ": '" + name.substr(0, most) +
                                       "' is no valid name");
            if (!names.insert(name).second) refuse("another node has that name");
        }
    }

    /// All ops, or one error that names everything this program lacks. Equal ops are one.
    void make_ops() {
        std::vector<std::string> lacking;
        const auto lacks = [&](std::string op) {
            if (std::find(lacking.begin(), lacking.end(), op) == lacking.end()) lacking.push_back(std::move(op));
        };
        constexpr std::size_t small = 4096; // comparing more costs more than it saves
        std::map<std::tuple<std::string_view, int, std::string_view>, op_ptr> known;
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

    /// An edge from one of the first `end` nodes.
    endpoint checked(const saved_edge& e, std::size_t end, const std::string& who) const {
        if (e.node >= end)
            throw invalid_argument(
                who + " names node " + std::to_string(e.node) +
                (end < saved_.nodes.size() ? ", which does not come before it" : ", which is not there"));
        const node* n = nodes_[e.node];
        // a node without an output may be a member, not an input
        if (e.port >= std::max<std::size_t>(n->outputs.size(), 1))
            throw invalid_argument(who + " names output " + std::to_string(e.port) + " of " + place(e.node) +
                                   ", which has " + std::to_string(n->outputs.size()));
        return {n, static_cast<int>(e.port)};
    }

    void add_node() {
        const auto& s = saved_.nodes[at_];
        node_spec spec;
        spec.op = ops_[at_];
        spec.name = s.name;
        spec.where = where_;
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

    /// What an op writes is a variable, or one that another write gives on.
    void check_writes(const node_spec& spec) const {
        for (const int w : spec.op->writes()) {
            if (w >= static_cast<int>(spec.inputs.size())) refuse("input " + std::to_string(w) + " is missing");
            const node* n = spec.inputs[w].from;
            int port = spec.inputs[w].port;
            while (n->op->role() != op_role::variable && port == 0 && n->op->alias() >= 0) {
                const auto& next = n->inputs[n->op->alias()];
                n = next.from, port = next.port;
            }
            if (n->op->role() != op_role::variable)
                refuse("writes '" + spec.inputs[w].from->name + "', which is no variable");
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
                throw invalid_argument("'" + a->name + "' is no initializer of '" + v->name + "'");
            made_.state().set_initializer(v, a);
        }
        for (const auto& s : scopes_) made_.state().take_scope(std::string(s));
    }

    const saved_graph& saved_;
    std::source_location where_;
    graph made_;
    std::vector<op_ptr> ops_;
    std::vector<const node*> nodes_;
    std::unordered_set<std::string_view> scopes_;
    std::size_t at_ = 0;
};

RILL_COLD graph load_graph(const saved_graph& saved, const std::source_location& where) {
    return graph_loader(saved, where).load();
}

// ---- into another graph --------------------------------------------------------------------------------------------------

RILL_COLD void add_graph(const graph& from, const graph& to, const std::string& prefix,
                         const std::source_location& where) {
    auto& state = to.state();
    const auto nodes = from.nodes();
    const auto outer = scopes().prefix + prefix;
    if (!prefix.empty() && (!valid_name(prefix) || prefix.back() == '/'))
        throw invalid_argument("import_graph: '" + prefix + "' is no valid name");
    std::string scope = prefix.empty() ? scopes().prefix : state.unique_name(outer) + "/";
    std::string taken;
    for (const auto* n : nodes)
        if (state.find(scope + n->name)) taken += (taken.empty() ? "'" : "', '") + scope + n->name;
    if (!taken.empty()) throw already_exists("import_graph: the graph has nodes of these names: " + taken + "'");

    std::unordered_map<const node*, const node*> copy;
    const auto edge = [&](const endpoint& e) { return endpoint{copy.at(e.from), e.port}; };
    for (const auto* n : nodes) {
        node_spec spec;
        spec.op = n->op;
        spec.name = scope + n->name;
        for (const auto& e : n->inputs) spec.inputs.push_back(edge(e));
        for (const auto* c : n->control_inputs) spec.control_inputs.push_back(copy.at(c));
        spec.device = n->device;
        if (n->colocated) spec.colocated = copy.at(n->colocated);
        spec.where = where;
        copy[n] = state.add(std::move(spec));
        for (std::size_t slash = n->name.find('/'); slash != std::string::npos; slash = n->name.find('/', slash + 1))
            state.take_scope(scope + n->name.substr(0, slash));
    }
    for (const auto* n : nodes)
        if (const auto* i = from.state().initializer(n)) state.set_initializer(copy.at(n), copy.at(i));
    for (const auto& [name, members] : from.state().collections())
        for (const auto& e : members) state.add_to_collection(name, edge(e));
}

}}} // namespace rill::RILL_ABI::detail
