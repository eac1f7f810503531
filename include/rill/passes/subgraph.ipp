// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/subgraph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_COLD std::string subgraph::name_of(int i) const {
    const auto& it = items[i];
    if (it.origin) return it.origin->name;
    return it.feed >= 0 ? "feed of " + rill::name_of(feeds[it.feed]) : "copy";
}

RILL_COLD bool subgraph::item::writes(std::size_t input) const {
    if (!op) return false;
    const auto all = op->writes();
    return detail::contains(all, static_cast<std::int32_t>(input));
}

RILL_COLD bool subgraph::item::gives_written(int port) const {
    return op && port == 0 && op->alias() >= 0 && writes(static_cast<std::size_t>(op->alias()));
}

RILL_COLD const memory_space* subgraph::item::memory() const {
    const bool on_host = op && op->role() == op_role::constant;
    return on_host || !device ? nullptr : device->space;
}

RILL_COLD const device* subgraph::item::output_device(int port) const {
    const bool on_host = op && op->role() == op_role::constant;
    return on_host || (origin && !share && rill::is_swapped({origin, port})) ? nullptr : device;
}

RILL_COLD const device* subgraph::item::input_device(std::size_t input) const {
    if (!op) return device;
    const auto* use = op->regions();
    if (use && use->swap_memory && use->how == region_attributes::form::scan && origin && !share &&
        input >= static_cast<std::size_t>(use->carried) && input < static_cast<std::size_t>(use->operands) &&
        rill::is_swapped(origin->inputs[input]))
        return nullptr;
    if (use && use->how == region_attributes::form::choose && input == 0) return nullptr;
    const auto number = static_cast<std::int32_t>(input);
    return detail::contains(op->host_inputs(), number) || detail::contains(op->shape_inputs(), number) ? nullptr
                                                                                                       : device;
}

RILL_COLD op_role subgraph::role(int i) const {
    const auto& op = items[i].op;
    return op ? op->role() : op_role::ordinary;
}

RILL_COLD void check(const subgraph& g, bool ordered) {
    const int n = static_cast<int>(g.items.size());
    const auto valid = [&](int from, int to) {
        if (from < 0 || from >= n || (ordered && to >= 0 && from >= to))
            throw internal("passes: item " + std::to_string(to) + " depends on item " + std::to_string(from));
    };
    for (int i = 0; i < n; ++i) {
        for (const auto& v : g.items[i].inputs) valid(v.item, i);
        for (const int a : g.items[i].after) valid(a, i);
    }
    for (const auto& v : g.fetches) valid(v.item, -1);
    for (const int t : g.targets) valid(t, -1);
}

}} // namespace rill::RILL_ABI
