// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/serialization/add_graph.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/core/names.hpp>
#include <rill/graph/scope.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void add_graph(const graph& from, const graph& to, const std::string& prefix,
                         const std::source_location& where) {
    auto& state = to.state();
    const auto nodes = from.nodes();
    const auto outer = scopes().prefix + prefix;
    if (!prefix.empty() && (!valid_name(prefix) || prefix.back() == '/'))
        throw invalid_argument("import_graph: '" + prefix + "' is not a valid name");
    std::string scope = prefix.empty() ? scopes().prefix : state.unique_name(outer) + "/";
    std::string taken;
    for (const auto* n : nodes)
        if (state.find(scope + n->name)) taken += (taken.empty() ? "'" : "', '") + scope + n->name;
    if (!taken.empty()) throw already_exists("import_graph: the graph has nodes of these names: " + taken + "'");

    hash_map<const node*, const node*> copy;
    const auto edge = [&](const endpoint& e) { return endpoint{copy.at(e.from), e.port}; };
    const auto edges = [&](const std::vector<endpoint>& ends) {
        std::vector<endpoint> out;
        for (const auto& e : ends) out.push_back(e ? edge(e) : endpoint());
        return out;
    };
    hash_map<const region*, const region*> regions;
    regions[nullptr] = scopes().inside;
    for (const auto* r : from.state().regions())
        regions.try_emplace(r, state.add_region(regions.at(r->parent), scope + r->name, where));
    const auto region_copy = [&](const region* r) { return regions.at(r); };
    for (const auto* n : nodes) {
        node_spec spec;
        spec.op = n->op;
        spec.name = scope + n->name;
        for (const auto& e : n->inputs) spec.inputs.push_back(edge(e));
        for (const auto* c : n->control_inputs) spec.control_inputs.push_back(copy.at(c));
        spec.device = n->device;
        if (n->colocated) spec.colocated = copy.at(n->colocated);
        spec.where = where;
        spec.inside = region_copy(n->inside);
        if (n->bodies) {
            spec.scope_of_its_own = true;
            if (n->bodies->first_variant) spec.bodies.first_variant = copy.at(n->bodies->first_variant);
            for (const auto& b : *n->bodies) {
                auto& made = spec.bodies.emplace_back();
                made.of = region_copy(b.of);
                made.arguments = edges(b.arguments);
                made.results = edges(b.results);
                made.captures = edges(b.captures);
                made.captured = b.captured;
                for (const auto* e : b.effects) made.effects.push_back(copy.at(e));
            }
        }
        copy[n] = state.add(std::move(spec));
        for (std::size_t slash = n->name.find('/'); slash != std::string::npos; slash = n->name.find('/', slash + 1))
            state.take_scope(scope + n->name.substr(0, slash));
    }
    std::vector<loop_edge> loops;
    for (const auto* n : nodes)
        if (const auto back = from.state().back_edge(n)) loops.push_back({copy.at(n), edge(back)});
    state.close_loops(loops);
    for (const auto* n : nodes)
        if (const auto* i = from.state().initializer(n)) state.set_initializer(copy.at(n), copy.at(i));
    for (const auto* n : nodes)
        if (auto value = from.state().value(n); !value.empty()) state.set_value(copy.at(n), std::move(value));
    for (const auto& [name, members] : from.state().collections())
        for (const auto& e : members) state.add_to_collection(name, edge(e));
}

}}} // namespace rill::RILL_ABI::detail
