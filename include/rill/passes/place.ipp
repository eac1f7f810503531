// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/passes/place.hpp>

#include <algorithm>
#include <utility>

#include <rill/core/algorithm.hpp>
#include <rill/graph/device_name.hpp>

namespace rill { inline namespace RILL_ABI {

namespace detail {

inline std::string full_name(const device_type& d) { return to_string(device_name{"localhost", 0, 0, d.name, 0}); }

/// Returns the beginning of a placement error.
inline std::string placed_node(const subgraph::item& it) {
    return "placement: '" + it.origin->name + "' (" + std::string(it.op->name()) + ", made at " +
           to_string(it.origin->where) + ") ";
}

/// Returns the device that a node requests; null if it requests none.
inline const device_type* asked_device(const subgraph::item& it, bool soft) {
    const std::string& asked = requested_device(*it.origin);
    if (asked.empty()) return nullptr;
    const auto d = parse_device(asked);
    const bool here = (d.job.empty() || d.job == "localhost") && d.replica <= 0 && d.task <= 0;
    const device_type* found = d.type.empty() ? nullptr : find_device(d.type);
    const bool exists = d.type.empty() || (found && d.index <= 0);
    if (here && exists) return found;
    if (here && soft) return &cpu_device();
    std::string have;
    for (const auto* known : known_devices()) have += (have.empty() ? "" : ", ") + full_name(*known);
    throw invalid_argument(placed_node(it) + "asks for device '" + asked + "'; this session has " + have +
                           (here ? " (allow_soft_placement would run it there)" : ""));
}

inline bool has_text(const node& n) {
    const auto is_text = [](const tensor_type& t) { return t.type == dtype::string; };
    return detail::any_of(n.outputs, is_text) ||
           detail::any_of(n.inputs, [&](const endpoint& e) { return is_text(type_of(e)); });
}

} // namespace detail

RILL_COLD subgraph place(subgraph g, bool soft, const std::function<void(const node&, const std::string&)>& report,
                         const device_type& default_device) {
    const auto device_at = [&](const subgraph::value& v) { return g.items[v.item].device; };
    for (auto& it : g.items) {
        if (!it.origin) {
            if (it.is_copy()) it.device = g.items[it.inputs[0].item].memory();
            continue;
        }
        const device_type* asked = detail::asked_device(it, soft);
        it.device = asked ? asked : &default_device;
        if (it.origin->bodies) { // the host runs the bodies; their nodes are placed when the bodies are compiled
            it.device = &cpu_device();
            continue;
        }
        if (detail::has_text(*it.origin)) it.device = &cpu_device();
        // a write, or an op that only asks whether a variable is initialized, runs where the variable lies
        for (const int k : it.op->may_be_uninitialized())
            if (const auto* there = device_at(it.inputs[k])) it.device = there;
        const auto written = it.op->writes();
        for (std::size_t k = 0; k < written.size(); ++k) {
            const auto* there = device_at(it.inputs[written[k]]);
            if (!there) continue; // a fed variable, which binding refuses
            if (k > 0 && there != it.device)
                throw invalid_argument(detail::placed_node(it) + "writes variables of several devices: " +
                                       detail::full_name(*it.device) + " and " + detail::full_name(*there));
            it.device = there;
        }
        if (report) report(*it.origin, detail::full_name(*it.device));
    }
    return g;
}

}} // namespace rill::RILL_ABI
