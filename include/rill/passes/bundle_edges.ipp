// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/bundle_edges.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <rill/graph/op/exchange_ops.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/state_groups.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD subgraph bundle_edges(subgraph g, std::vector<cross_edge>& edges, wire_format wire, bool takes_turns) {
    constexpr std::size_t most = 256 * 1024; // maximum bytes of a bundle
    const int n = static_cast<int>(g.items.size());
    // two sends that depend on the same exchanges do not depend on each other
    detail::number_sets sets;
    std::vector<int> before(g.items.size()), with(g.items.size()), sends(edges.size(), -1), receives(edges.size(), -1);
    using key = std::tuple<int, int, int, wire_format>; // parts, the exchanges before, and the form of float32 values
    std::map<key, std::vector<std::vector<int>>> bundles;
    std::map<key, std::size_t> room;
    for (int i = 0; i < n; ++i) {
        const auto& it = g.items[i];
        for (const auto& v : it.inputs) before[i] = sets.join(before[i], with[v.item]);
        for (const int a : it.after) before[i] = sets.join(before[i], with[a]);
        // a share of a partitioned node waits inside for the other parts: it counts as an exchange
        const int exchange = it.share ? static_cast<int>(edges.size()) + i : it.edge;
        with[i] = exchange < 0 ? before[i] : sets.join(before[i], sets.number_of({exchange}));
        if (it.edge < 0) continue;
        (it.op->is_async() ? receives : sends)[static_cast<std::size_t>(it.edge)] = i;
        const auto& e = edges[static_cast<std::size_t>(it.edge)];
        if (it.op->is_async() || !e.type.shape.complete() || !e.type.countable() || e.type.type == dtype::string)
            continue;
        const auto bytes = detail::bundle_bytes({&e.type, 1}, e.wire);
        const key where{e.from, e.to, before[i], e.type.type == dtype::float32 ? e.wire : wire};
        auto& left = room[where];
        if (bytes > most) continue;
        if (bytes > left || bundles[where].empty()) {
            bundles[where].emplace_back();
            left = most;
        }
        bundles[where].back().push_back(it.edge);
        left -= bytes;
    }
    const auto& ops = *detail::registered_exchange_ops.load();
    std::vector<subgraph::value> now; // per item: the value that replaces its output 0
    for (int i = 0; i < n; ++i) now.push_back({i, 0});
    for (const auto& [where, all] : bundles)
        for (const auto& members : all) {
            if (members.size() < 2) continue;
            const int last = members.back();
            const auto form = std::get<wire_format>(where);
            const auto at = [&](const std::vector<int>& of, int edge) { return of[static_cast<std::size_t>(edge)]; };
            auto &send = g.items[at(sends, last)], &receive = g.items[at(receives, last)];
            std::vector<tensor_type> types;
            small_vector<subgraph::value, 2> inputs;
            for (const int m : members) {
                auto& e = edges[static_cast<std::size_t>(m)];
                if (m != last) e.bundled_into = last;
                const auto& from = g.items[at(sends, m)];
                if (m != last)
                    for (const int a : from.after) send.after.push_back(a);
                now[at(sends, m)] = {at(sends, last), 0};
                now[at(receives, m)] = {at(receives, last), static_cast<int>(types.size())};
                if (from.inputs.empty()) continue; // a control edge: its output is unread
                inputs.push_back(from.inputs[0]);
                types.push_back(e.type);
            }
            if (types.empty()) continue; // only control edges: the last one serves all
            auto& e = edges[static_cast<std::size_t>(last)];
            send.inputs = inputs;
            send.op = ops.send_bundle(e.number, form);
            receive.op = ops.receive_bundle(e.number, types, form, takes_turns);
            e.type = {dtype::uint8, dims{static_cast<index_t>(detail::bundle_bytes(types, form))}};
            e.is_control = false;
            e.wire = form;
        }
    std::vector<int> kept(g.items.size(), -1);
    detail::vector<subgraph::item> items;
    for (int i = 0; i < n; ++i)
        if (now[i].item == i) {
            kept[i] = static_cast<int>(items.size());
            items.push_back(std::move(g.items[i]));
        }
    const auto settled = [&](const subgraph::value& v) {
        const auto& by = now[v.item];
        return subgraph::value{kept[by.item], v.port > 0 ? v.port : by.port};
    };
    for (auto& it : items) {
        for (auto& v : it.inputs) v = settled(v);
        for (auto& a : it.after) a = kept[now[a].item];
    }
    for (auto& f : g.fetches) f = settled(f);
    for (auto& t : g.targets) t = kept[now[t].item];
    g.items = std::move(items);
    return sort_items(std::move(g));
}

}} // namespace rill::RILL_ABI
