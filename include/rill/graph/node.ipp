// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/graph/node.hpp>

#include <cstddef>
#include <string>

#include <rill/core/algorithm.hpp>

namespace rill { inline namespace RILL_ABI {

RILL_INLINE const node* written_variable(endpoint e) {
    while (e.from->op->role() != op_role::variable && e.from->op->alias() >= 0) e = e.from->inputs[e.from->op->alias()];
    return e.from;
}

RILL_INLINE const node* variable_of(endpoint e) {
    while (e && e.port == 0 && e.from->op->role() != op_role::variable) {
        const int source = e.from->op->alias();
        if (source < 0 || !detail::contains(e.from->op->writes(), source)) return nullptr;
        e = e.from->inputs[static_cast<std::size_t>(source)];
    }
    return e && e.from->op->role() == op_role::variable ? e.from : nullptr;
}

RILL_INLINE const node& placed_with(const node& n) {
    const node* asks = &n;
    while (asks->colocated) asks = asks->colocated; // ends: each of them is older
    return *asks;
}

RILL_INLINE const std::string& requested_device(const node& n) { return placed_with(n).device; }

RILL_COLD bool is_swapped(const endpoint& e) {
    const auto* use = e.from->bodies ? e.from->op->regions() : nullptr;
    const bool is_loop =
        use && (use->how == region_attributes::form::repeat || use->how == region_attributes::form::scan);
    return is_loop && use->swap_memory && static_cast<std::size_t>(e.port) >= first_variant(*e.from)->outputs.size();
}

RILL_INLINE std::string name_of(const endpoint& e) { return e.from->name + ":" + std::to_string(e.port); }

RILL_INLINE std::string place_of(const node& n) { return "node '" + n.name + "', made at " + to_string(n.where); }

RILL_COLD std::string error_at(const node& n, const std::string& label, const std::string& what) {
    const std::string place = place_of(n);
    return what.find(place) != std::string::npos ? what : label + ": " + what + " (" + place + ")";
}

}} // namespace rill::RILL_ABI
