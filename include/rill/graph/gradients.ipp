// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/gradients.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD std::vector<const node*> nodes_between(std::span<const endpoint> xs, std::span<const endpoint> ys,
                                                 const hash_set<const node*>& stop) {
    std::vector<const node*> found, open;
    hash_set<const node*> seen;
    std::uint32_t oldest = std::numeric_limits<std::uint32_t>::max();
    for (const auto& x : xs) oldest = std::min(oldest, x.from->id);
    const auto visit = [&](const node* n) {
        if (n->id < oldest || !seen.insert(n)) return; // a node older than every x depends on none
        found.push_back(n);
        open.push_back(n);
    };
    for (const auto& y : ys) visit(y.from);
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        if (stop.contains(n)) continue;
        for (const auto& e : n->inputs) visit(e.from);
    }
    detail::sort(found, [](const node* a, const node* b) { return a->id < b->id; });
    return found;
}

/// A scope whose nodes run on the device of the node of an output.
struct beside_node : scoped<const node*> {
    explicit beside_node(const endpoint& e) : scoped(scopes().colocated, colocation_of(e)) {}
};

} // namespace detail

RILL_COLD std::vector<endpoint> add_gradients(std::span<const endpoint> ys, std::span<const endpoint> xs,
                                              std::span<const endpoint> seeds, std::span<const endpoint> stop,
                                              const gradient_ops& ops) {
    if (ys.empty()) throw invalid_argument("gradients: no ys were given");
    for (const auto& all : {ys, xs, stop})
        for (const auto& e : all)
            if (!reaches(e.from->inside, detail::scopes().inside))
                throw invalid_argument("gradients: '" + e.from->name + "' (made at " + to_string(e.from->where) +
                                       ") belongs to the body " + text_of(*e.from->inside) +
                                       ": it has values only while that runs");
    const name_scope scope("gradients");
    detail::hash_set<const node*> stopped;
    for (const auto& e : stop) stopped.insert(e.from);
    const auto nodes = detail::nodes_between(xs, ys, stopped);

    struct arrival {
        int port;
        endpoint gradient;
    };
    struct state {
        bool depends = false;   // on an x: only such nodes carry gradients
        bool asked_for = false; // an x is one of its outputs
        detail::vector<arrival> arrived = {};
    };
    detail::hash_map<const node*, std::size_t> places; // a map: the cost does not grow with the graph
    detail::vector<state> states;
    places.reserve(nodes.size());
    for (const auto* n : nodes) {
        places.try_emplace(n, states.size());
        states.push_back({});
    }
    const auto state_of = [&](const node* n) -> state* {
        const auto at = places.find(n);
        return at == places.end() ? nullptr : &states[at->second];
    };
    const auto depends = [&](const node* n) {
        const auto* s = state_of(n);
        return s && s->depends;
    };
    for (const auto& x : xs)
        if (auto* s = state_of(x.from)) s->depends = s->asked_for = true;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (stopped.contains(nodes[i])) continue;
        for (const auto& e : nodes[i]->inputs) states[i].depends = states[i].depends || depends(e.from);
    }
    const auto arrive = [&](const endpoint& at, const endpoint& gradient) {
        state_of(at.from)->arrived.push_back({at.port, gradient});
    };
    for (std::size_t i = 0; i < ys.size(); ++i) {
        const bool given = i < seeds.size() && seeds[i];
        if (!is_differentiable(type_of(ys[i]).type))
            throw invalid_argument("gradients: '" + name_of(ys[i]) + "' is " + to_string(type_of(ys[i])) +
                                   ": only floating and complex tensors have gradients (" + place_of(*ys[i].from) +
                                   ")");
        if (given && (type_of(ys[i]).type != type_of(seeds[i]).type ||
                      !rules::compatible(type_of(ys[i]).shape, type_of(seeds[i]).shape)))
            throw invalid_argument("gradients: grad_y '" + name_of(seeds[i]) + "' is " + to_string(type_of(seeds[i])) +
                                   ", '" + name_of(ys[i]) + "' is " + to_string(type_of(ys[i])) + " (" +
                                   place_of(*ys[i].from) + ")");
        if (!depends(ys[i].from)) continue;
        std::optional<detail::beside_node> beside;
        if (ops.colocate) beside.emplace(ys[i]);
        arrive(ys[i], given ? seeds[i] : ops.ones_like(ys[i]));
    }

    detail::hash_map<const node*, std::vector<endpoint>> sums;
    std::vector<endpoint> gradients;
    detail::vector<std::vector<endpoint>> terms; // per output
    std::vector<char> wanted;
    for (std::size_t at = nodes.size(); at-- > 0;) {
        const node* n = nodes[at];
        const auto here = std::exchange(states[at].arrived, {});
        if (here.empty()) continue;
        std::optional<detail::beside_node> beside;
        if (ops.colocate) beside.emplace(endpoint{n, 0});
        gradients.clear();
        if (terms.size() < n->outputs.size()) terms.resize(n->outputs.size());
        for (const auto& a : here) terms[a.port].push_back(a.gradient);
        for (std::size_t port = 0; port < n->outputs.size(); ++port) {
            auto& all = terms[port];
            gradients.push_back(all.empty() ? endpoint() : all.size() == 1 ? all[0] : ops.add_n(all));
            all.clear();
        }
        if (states[at].asked_for) sums[n] = gradients;
        const bool ends = stopped.contains(n);
        wanted.assign(n->inputs.size(), 0);
        bool any = false;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            wanted[i] = !ends && depends(n->inputs[i].from) && is_differentiable(type_of(n->inputs[i]).type);
            any = any || wanted[i];
        }
        if (!any) continue;
        if (const char* reason = n->op->no_gradient_reason()) {
            if (*reason == '\0') continue; // constant by definition: no gradient flows, and that is no error
            throw unimplemented("gradients: " + std::string(n->op->name()) + " has no gradient: " + reason + " (" +
                                place_of(*n) + ")");
        }
        const auto result = n->op->gradient({*n, gradients, wanted, ops});
        for (std::size_t i = 0; i < result.size() && i < wanted.size(); ++i)
            if (wanted[i] && result[i]) {
                if (!rules::compatible(type_of(n->inputs[i]).shape, type_of(result[i]).shape))
                    throw internal("gradients: the gradient of '" + name_of(n->inputs[i]) + "' came out as " +
                                   to_string(type_of(result[i])) + " instead of " + to_string(type_of(n->inputs[i])));
                arrive(n->inputs[i], result[i]);
            }
    }

    std::vector<endpoint> out;
    for (const auto& x : xs) {
        const auto found = sums.find(x.from);
        out.push_back(found == sums.end() ? endpoint() : found->second[x.port]);
    }
    return out;
}

}} // namespace rill::RILL_ABI
