// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/distributed/run_by_names.hpp>

#include <string>
#include <string_view>

#include <rill/distributed/wire_message.hpp>
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

/// Returns where a node of this name was made, as text; empty if unknown. The name may be that of an output.
inline std::string place_of_name(const std::string& name, const graph& g) {
    const auto* n = g.state().find(name);
    if (const auto colon = name.rfind(':'); !n && colon != std::string::npos) n = g.state().find(name.substr(0, colon));
    if (n) return n->where.line() == 0 ? std::string() : "made at " + to_string(n->where);
    return name.starts_with("_x/") ? "added between tasks" : std::string(); // see part_graph
}

/// Returns the end of the name before a place in an error text. The texts are "node 'layer/add', made at", "'layer/add' (made at", and
/// "'layer/add' (Add, made at", with an op or a type. Returns 0 if there is no name.
inline std::size_t end_of_name(std::string_view text, std::size_t place) {
    if (place < 4) return 0;
    if (text[place - 3] == '\'') return place - 3;
    const auto end = text.rfind("' (", place);
    if (!text.substr(0, place).ends_with(", ") || end == std::string_view::npos) return 0;
    return text.substr(end + 3, place - (end + 3)).find_first_of("')") == std::string_view::npos ? end : 0;
}

RILL_COLD std::exception_ptr with_places(const std::exception_ptr& problem, const graph& g) noexcept {
    constexpr std::string_view unknown = "made at an unknown place";
    if (problem) try {
            auto [code, text] = described(problem);
            bool any = false;
            for (auto at = text.find(unknown); at != std::string::npos; at = text.find(unknown, at + 1)) {
                const auto end = end_of_name(text, at);
                const auto begin = end > 0 ? text.rfind('\'', end - 1) : std::string::npos;
                if (begin == std::string::npos) continue;
                const auto place = place_of_name(text.substr(begin + 1, end - begin - 1), g);
                if (place.empty()) continue;
                text.replace(at, unknown.size(), place);
                any = true;
            }
            if (any) return made_error(static_cast<std::uint32_t>(code), text);
        } catch (...) { // out of memory: the error stays as it is
        }
    return problem;
}

}}} // namespace rill::RILL_ABI::detail
