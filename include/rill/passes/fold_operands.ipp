// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/fold_operands.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/vector.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns true if one item may absorb the other: both run on one device.
inline bool on_one_device(const subgraph::item& a, const subgraph::item& b) { return a.device == b.device; }

/// Marks items after a write of a variable, or after an op that may wait for writes of other steps.
inline std::vector<char> after_a_write(const subgraph& g) {
    std::vector<char> late(g.items.size());
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        const auto& it = g.items[i];
        const auto look = [&](int from) {
            const auto& before = g.items[from];
            const bool waits = before.op && before.op->ordering() != step_ordering::none;
            if (late[from] || before.is_write() || waits) late[i] = 1;
        };
        for (const auto& v : it.inputs) look(v.item);
        for (const int a : it.after) look(a);
    }
    return late;
}

/// Returns true if the item reads a variable. An item after a write can't absorb it: it would read the variable too late.
inline bool reads_variables(const subgraph& g, const subgraph::item& it) {
    return detail::any_of(it.inputs, [&](const auto& v) { return g.role(v.item) == op_role::variable; });
}

/// Returns true for an identity of a variable. A run would copy the variable, since a write may happen meanwhile.
inline bool is_variable_by_another_name(const subgraph& g, const subgraph::item& it) {
    if (!it.origin || it.op->alias() != 0 || it.is_write() || !it.after.empty()) return false;
    const auto& of = g.items[it.inputs[0].item];
    return g.role(it.inputs[0].item) == op_role::variable && of.origin &&
           it.origin->outputs[0] == of.origin->outputs[0] && on_one_device(it, of);
}

/// Counts the uses of each item: as input, control input, fetch or target.
inline std::vector<int> uses_of(const subgraph& g) {
    std::vector<int> uses(g.items.size());
    for (const auto& it : g.items) {
        for (const auto& v : it.inputs) ++uses[v.item];
        for (const int a : it.after) ++uses[a];
    }
    for (const auto& f : g.fetches) ++uses[f.item];
    for (const int t : g.targets) ++uses[t];
    return uses;
}

/// Merges item i, a fused node, into the producer of one of its inputs, as that op's epilogue. The item must be the producer's only
/// reader. Returns true if an op did so.
inline bool take_over(subgraph& g, std::size_t i, const std::vector<int>& uses, bool late) {
    auto& it = g.items[i];
    for (std::size_t k = 0; k < it.inputs.size(); ++k) {
        const auto& from = g.items[it.inputs[k].item];
        if (!from.op || !from.origin || uses[it.inputs[k].item] != 1 || !from.after.empty()) continue;
        if (!on_one_device(from, it)) continue;
        if (late && reads_variables(g, from)) continue;
        auto inputs = from.inputs;
        for (std::size_t other = 0; other < it.inputs.size(); ++other)
            if (other != k) inputs.push_back(it.inputs[other]);
        std::vector<tensor_type> types;
        for (const auto& v : inputs) {
            const auto& item = g.items[v.item];
            types.push_back(item.origin ? item.origin->output(v.port) : type_of(g.feeds[item.feed]));
        }
        auto made = from.op->fuse_epilogue(*it.op->fused(), types);
        if (!made) continue;
        it.op = std::move(made);
        it.inputs = std::move(inputs);
        return true;
    }
    return false;
}

inline subgraph drop_unused(subgraph g) {
    std::vector<char> needed(g.items.size());
    for (const auto& f : g.fetches) needed[f.item] = 1;
    for (const int t : g.targets) needed[t] = 1;
    for (std::size_t i = g.items.size(); i-- > 0;) {
        const auto& it = g.items[i];
        if (it.feed >= 0) needed[i] = 1; // feeds keep their numbers
        if (!needed[i]) continue;
        for (const auto& v : it.inputs) needed[v.item] = 1;
        for (const int a : it.after) needed[a] = 1;
    }
    std::vector<int> now(g.items.size());
    vector<subgraph::item> kept;
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        now[i] = static_cast<int>(kept.size());
        if (!needed[i]) continue;
        auto& it = g.items[i];
        for (auto& v : it.inputs) v.item = now[v.item];
        for (auto& a : it.after) a = now[a];
        kept.push_back(std::move(it));
    }
    for (auto& f : g.fetches) f.item = now[f.item];
    for (auto& t : g.targets) t = now[t];
    g.items = std::move(kept);
    return g;
}

} // namespace detail

RILL_COLD subgraph fold_producers(subgraph g) {
    const auto late = detail::after_a_write(g);
    bool any = false;
    for (std::size_t i = 0; i < g.items.size(); ++i) {
        auto& it = g.items[i];
        if (!it.op || it.is_write()) continue;
        for (std::size_t k = 0; k < it.inputs.size(); ++k) {
            while (!late[i] && detail::is_variable_by_another_name(g, g.items[it.inputs[k].item])) {
                it.inputs[k] = g.items[it.inputs[k].item].inputs[0];
                any = true;
            }
            for (;;) { // a transpose of a transpose folds twice
                const auto& from = g.items[it.inputs[k].item];
                if (!from.op || it.inputs[k].port != 0 || from.inputs.empty() || !from.after.empty()) break;
                if (!detail::on_one_device(from, it)) break;
                if (late[i] && detail::reads_variables(g, from)) break;
                auto made = it.op->fold_operands(static_cast<int>(k), *from.op);
                if (!made) break;
                it.op = std::move(made);
                it.inputs[k] = from.inputs[0];
                any = true;
            }
        }
    }
    const auto uses = detail::uses_of(g);
    for (std::size_t i = 0; i < g.items.size(); ++i)
        if (const auto& it = g.items[i]; it.origin && it.op && it.op->fused() && !it.is_write())
            any = detail::take_over(g, i, uses, late[i] != 0) || any;
    return any ? detail::drop_unused(std::move(g)) : g;
}

}} // namespace rill::RILL_ABI
