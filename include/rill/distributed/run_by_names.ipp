// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/run_by_names.hpp>

#include <string>

#include <rill/graph/serialization/saved_graph.hpp>
#include <rill/graph/serialization/serialization.hpp> // defines bytes_of and saved_graph_of

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD run_names names_of(const plan_key& key) {
    run_names names;
    const auto name = [](const endpoint& e) { return e.from->name + ":" + std::to_string(e.port); };
    for (const auto& e : key.feeds) names.feeds.push_back(name(e));
    for (const auto& e : key.fetches) names.fetches.push_back(name(e));
    for (const auto* n : key.targets) names.targets.push_back(n->name);
    return names;
}

RILL_COLD plan_key plan_key_of(const run_names& names, const graph& in) {
    const auto node_of = [&](const std::string& name) {
        const auto* n = in.state().find(name);
        if (!n) throw data_loss("the graph of a run has no node '" + name + "'");
        return n;
    };
    const auto edge_of = [&](const std::string& name) {
        const auto colon = name.rfind(':');
        const auto digits = colon == std::string::npos ? std::string() : name.substr(colon + 1);
        if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos)
            throw data_loss("'" + name + "' is not the name of a value");
        const endpoint e{node_of(name.substr(0, colon)), std::stoi(digits)};
        if (static_cast<std::size_t>(e.port) >= e.from->outputs.size())
            throw data_loss("the graph of a run has no value '" + name + "'");
        return e;
    };
    plan_key key;
    for (const auto& f : names.fetches) key.fetches.push_back(edge_of(f));
    for (const auto& f : names.feeds) key.feeds.push_back(edge_of(f));
    for (const auto& t : names.targets) key.targets.push_back(node_of(t));
    return key;
}

RILL_COLD std::string bytes_of_run(const graph& g, const plan_key& key) {
    std::vector<const node*> wanted(key.targets);
    for (const auto* ends : {&key.fetches, &key.feeds})
        for (const auto& e : *ends) wanted.push_back(e.from);
    auto saved = save_graph(g, {.wanted = wanted, .initializers = false});
    for (std::uint32_t i = 0; i < saved.nodes.size(); ++i) {
        const auto* n = g.state().find(saved.nodes[i].name);
        if (!n || n->op->role() != op_role::variable) continue;
        if (const auto first = g.state().value(n); !first.empty()) saved.values.push_back({i, bytes_of_array(first)});
    }
    return bytes_of(saved);
}

}}} // namespace rill::RILL_ABI::detail
