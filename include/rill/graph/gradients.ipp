// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/gradients.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/hash_map.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

RILL_COLD std::vector<const node*> ancestors(std::span<const endpoint> ys, std::span<const endpoint> stop) {
    std::vector<const node*> found, open;
    std::vector<char> seen;
    const auto visit = [&](const node* n) {
        if (n->id >= seen.size()) seen.resize(n->id + 1);
        if (std::exchange(seen[n->id], char(1))) return;
        found.push_back(n);
        open.push_back(n);
    };
    for (const auto& y : ys) visit(y.from);
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        const bool stopped = detail::any_of(stop, [&](const endpoint& s) { return s.from == n; });
        if (stopped) continue;
        for (const auto& e : n->inputs) visit(e.from);
    }
    detail::sort(found, [](const node* a, const node* b) { return a->id < b->id; });
    return found;
}

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
    const auto nodes = detail::ancestors(ys, stop);
    const std::uint32_t last = nodes.back()->id;

    // which outputs lie on a path from an x: only those carry gradients
    std::vector<char> depends(last + 1);
    for (const auto& x : xs)
        if (x.from->id <= last) depends[x.from->id] = 1;
    const auto asked_for = depends;
    for (const auto* n : nodes) {
        const bool stopped = detail::any_of(stop, [&](const endpoint& s) { return s.from == n; });
        if (stopped) continue;
        for (const auto& e : n->inputs) depends[n->id] = depends[n->id] || depends[e.from->id];
    }

    struct arrival {
        int port;
        endpoint gradient;
    };
    detail::vector<detail::vector<arrival>> arrived(last + 1); // by node id
    const auto arrive = [&](const endpoint& at, const endpoint& gradient) {
        arrived[at.from->id].push_back({at.port, gradient});
    };
    for (std::size_t i = 0; i < ys.size(); ++i) {
        const bool given = i < seeds.size() && seeds[i];
        if (!is_differentiable(type_of(ys[i]).type))
            throw invalid_argument("gradients: '" + name_of(ys[i]) + "' is " + to_string(type_of(ys[i])) +
                                   ": only floating and complex tensors have gradients (" + place_of(*ys[i].from) + ")");
        if (given && (type_of(ys[i]).type != type_of(seeds[i]).type ||
                      !rules::compatible(type_of(ys[i]).shape, type_of(seeds[i]).shape)))
            throw invalid_argument("gradients: grad_y '" + name_of(seeds[i]) + "' is " + to_string(type_of(seeds[i])) +
                                   ", '" + name_of(ys[i]) + "' is " + to_string(type_of(ys[i])) + " (" +
                                   place_of(*ys[i].from) + ")");
        if (depends[ys[i].from->id]) arrive(ys[i], given ? seeds[i] : ops.ones_like(ys[i]));
    }

    detail::hash_map<const node*, std::vector<endpoint>> sums;
    std::vector<endpoint> terms, gradients;
    std::vector<char> wanted;
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
        const node* n = *at;
        const auto here = std::exchange(arrived[n->id], {});
        if (here.empty()) continue;
        gradients.clear();
        for (int port = 0; port < static_cast<int>(n->outputs.size()); ++port) {
            terms.clear();
            for (const auto& a : here)
                if (a.port == port) terms.push_back(a.gradient);
            gradients.push_back(terms.empty() ? endpoint() : terms.size() == 1 ? terms[0] : ops.add_n(terms));
        }
        if (asked_for[n->id]) sums[n] = gradients;
        const bool stopped = detail::any_of(stop, [&](const endpoint& s) { return s.from == n; });
        wanted.assign(n->inputs.size(), 0);
        bool any = false;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            wanted[i] = !stopped && depends[n->inputs[i].from->id] && is_differentiable(type_of(n->inputs[i]).type);
            any = any || wanted[i];
        }
        if (!any) continue;
        if (const char* reason = n->op->no_gradient_reason()) {
            if (*reason == '\0') continue; // a constant by nature: nothing flows
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
