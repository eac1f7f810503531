// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/cost_model.hpp>

#include <optional>
#include <vector>

#include <rill/graph/graph.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

/// Returns a type with nominal extents in place of unknown ones.
inline tensor_type nominal_type(const tensor_type& t) {
    constexpr index_t extent = 64;
    tensor_type made = t;
    if (!t.shape.known_rank()) made.shape = dims{extent};
    for (int k = 0; k < made.shape.rank; ++k)
        if (made.shape[k] == dyn) made.shape[k] = extent;
    return made;
}

/// Returns the cost of a node; for a node with bodies, the cost of the bodies' nodes.
inline op_cost nominal_cost(const node& n) {
    if (n.op->role() != op_role::ordinary) return {};
    if (!n.bodies) {
        std::vector<tensor_type> inputs, outputs;
        for (const auto& e : n.inputs) inputs.push_back(nominal_type(type_of(e)));
        for (const auto& t : n.outputs) outputs.push_back(nominal_type(t));
        return n.op->cost(inputs, outputs);
    }
    const auto how = n.op->regions()->how;
    const bool repeats = how == region_attributes::form::repeat || how == region_attributes::form::scan;
    const double runs = repeats ? 16 : 1; // assumed iterations, until some have been counted
    op_cost all;
    for (const auto& b : *n.bodies)
        for (const auto* inner : nodes_in(b, *n.owner)) {
            const auto one = nominal_cost(*inner);
            all.flops += runs * one.flops;
            all.bytes += runs * one.bytes;
        }
    return all;
}

} // namespace detail

RILL_COLD double cost_model::microseconds(const subgraph& g, int item, const device& on) const {
    const auto& it = g.items[item];
    if (!it.origin || it.op->role() != op_role::ordinary) return 0;
    const auto cost = detail::nominal_cost(*it.origin);
    const double estimate = on.type->microseconds(cost.flops, cost.bytes);
    const auto measured = has_measured() ? measured_->of(it.origin->name) : std::nullopt;
    if (!measured) return estimate;
    if (measured->on == on.type) return measured->microseconds;
    return measured->microseconds * estimate / measured->on->microseconds(cost.flops, cost.bytes);
}

RILL_COLD double cost_model::transfer_microseconds(double bytes, const device* from, const device* to) const {
    if (from == to) return 0;
    constexpr double message = 50, wire_bytes_per_microsecond = 1.5e3; // ZeroMQ over loopback: docs/scaling.md
    if (from && to && !detail::same_task(*from, *to)) return message + bytes / wire_bytes_per_microsecond;
    const auto* a = from ? from->space : nullptr;
    const auto* b = to ? to->space : nullptr;
    constexpr double hand_over = 1, copy = 10, bytes_per_microsecond = 1e4;
    return a == b ? hand_over : copy + bytes / bytes_per_microsecond;
}

RILL_COLD double cost_model::bytes(const subgraph& g, const subgraph::value& v) const {
    const auto& it = g.items[v.item];
    if (!it.origin && it.feed < 0) return 0; // a copy or an exchange
    const auto& type = it.origin ? it.origin->output(v.port) : type_of(g.feeds[static_cast<std::size_t>(it.feed)]);
    return static_cast<double>(detail::nominal_type(type).bytes());
}

}} // namespace rill::RILL_ABI
