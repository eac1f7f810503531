// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/train/compare_values.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns the position of a floating number among all of them, so that neighbours differ by 1.
inline std::int64_t place_of(float v) {
    const auto bits = std::bit_cast<std::int32_t>(v);
    return bits < 0 ? -static_cast<std::int64_t>(bits & 0x7fffffff) : bits;
}
inline std::int64_t place_of(double v) {
    const auto bits = std::bit_cast<std::int64_t>(v);
    return bits < 0 ? -(bits & std::numeric_limits<std::int64_t>::max()) : bits;
}

template <class T> void compare_numbers(const any_array& a, const any_array& b, value_difference& to) {
    const auto x = a.elements<T>(), y = b.elements<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
        const double u = static_cast<double>(x[i]), v = static_cast<double>(y[i]);
        const double apart = std::abs(u - v), relative = apart / std::max(std::abs(u), std::abs(v));
        const bool finite = std::isfinite(u) && std::isfinite(v);
        const double worst = finite ? relative : std::numeric_limits<double>::infinity();
        if (to.at < 0 || worst > to.relative) to.at = static_cast<index_t>(i);
        to.relative = std::max(to.relative, worst);
        to.absolute = std::max(to.absolute, finite ? apart : worst);
        to.ulps = std::max(to.ulps, finite ? std::abs(place_of(x[i]) - place_of(y[i]))
                                           : std::numeric_limits<std::int64_t>::max());
    }
}

RILL_COLD std::vector<any_tensor> fetchable_edges(const graph& g, const std::vector<feed_value>& feeds) {
    std::set<std::pair<const node*, int>> fed;
    for (const auto& f : feeds) {
        if (f.edge) {
            fed.insert({f.edge.end().from, f.edge.end().port});
            continue;
        }
        const auto colon = f.edge_name.rfind(':');
        if (const node* n = g.state().find(f.edge_name.substr(0, colon)))
            fed.insert({n, colon == std::string::npos ? 0 : std::atoi(f.edge_name.c_str() + colon + 1)});
    }
    std::set<const node*> runs; // nodes are in order: operands come first
    std::vector<any_tensor> all;
    for (const auto* n : g.nodes()) {
        const bool is_safe = !n->op->stateful() || n->op->role() == op_role::variable;
        bool can_run = !n->inside && is_safe && n->op->writes().empty() && !n->op->is_async() && !n->op->consumes() &&
                       !n->op->flow();
        for (const auto& e : n->inputs) can_run = can_run && (runs.contains(e.from) || fed.contains({e.from, e.port}));
        for (const auto* c : n->control_inputs) can_run = can_run && runs.contains(c);
        if (can_run) runs.insert(n);
        for (int i = 0; i < static_cast<int>(n->outputs.size()); ++i)
            if (can_run || fed.contains({n, i})) all.emplace_back(endpoint{n, i});
    }
    return all;
}

} // namespace detail

RILL_COLD std::vector<value_difference> compare_values(const session& a, const session& b,
                                                       const std::vector<any_tensor>& of,
                                                       const std::vector<feed_value>& feeds) {
    std::set<const node*> needed;
    std::vector<const node*> open;
    for (const auto& x : of) open.push_back(x.node());
    while (!open.empty()) {
        const node* n = open.back();
        open.pop_back();
        if (n->inside || !needed.insert(n).second) continue;
        for (const auto& e : n->inputs) open.push_back(e.from);
    }
    std::vector<const node*> nodes(needed.begin(), needed.end());
    std::sort(nodes.begin(), nodes.end(), [](const auto* x, const auto* y) { return x->id < y->id; });
    std::vector<any_tensor> here, there;
    for (const auto* n : nodes)
        for (int i = 0; i < static_cast<int>(n->outputs.size()); ++i) {
            const endpoint e{n, i};
            here.emplace_back(e);
            there.emplace_back(detail::core_of(b)->edge(name_of(e)));
        }
    std::vector<feed_value> by_name;
    for (const auto& f : feeds) by_name.push_back(f.edge ? feed_value{{}, name_of(f.edge.end()), f.value} : f);
    const auto x = a.run(here, by_name), y = b.run(there, by_name);
    std::vector<value_difference> all;
    for (std::size_t i = 0; i < here.size(); ++i) {
        value_difference d;
        d.edge = here[i].name();
        if (x[i].type() != y[i].type())
            d.problem = to_string(x[i].type()) + " and " + to_string(y[i].type());
        else if (x[i].dtype() == dtype::float32)
            detail::compare_numbers<float>(x[i], y[i], d);
        else if (x[i].dtype() == dtype::float64)
            detail::compare_numbers<double>(x[i], y[i], d);
        else if (!detail::same_array(x[i], y[i]))
            d.problem = "other elements";
        if (!d.problem.empty() || d.at >= 0) all.push_back(std::move(d));
    }
    return all;
}

}} // namespace rill::RILL_ABI
