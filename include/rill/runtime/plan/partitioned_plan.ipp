// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/partitioned_plan.hpp>

#include <utility>

#include <rill/core/device_name.hpp>
#include <rill/graph/graph.hpp>
#include <rill/runtime/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD std::unique_ptr<partitioned_plan> partitioned_plan::make(const plan_key& key, const session_options& options,
                                                                   std::shared_ptr<resource_store> resources,
                                                                   placement& where) {
    const auto* in = graph_of(key);
    if (!in) return nullptr;
    auto cut = compile_partition(key, in->may_be_dynamic() ? registered_dynamic_runtime.load() : nullptr, options, where);
    if (cut.parts.size() < 2) return nullptr;
    const graph of(const_cast<graph_state&>(*in)); // a handle counts references
    std::vector<part_graph> parts;
    for (const auto& p : cut.parts) parts.push_back(make_part_graph(p, of));
    return std::make_unique<partitioned_plan>(std::move(parts), std::move(cut.edges), key.fetches.size(), options,
                                              std::move(resources));
}

/// Pins the variables of a part to the devices that they request: their memory was counted when the run was
/// partitioned.
RILL_COLD void keep_variables(const part_graph& p, placement& where) {
    for (const auto* n : p.of.nodes()) {
        if (n->op->role() != op_role::variable) continue;
        const auto name = parse_device(n->device);
        const bool is_full = name.task >= 0 && name.index >= 0; // a node that runs beside primitives may name less
        if (const auto* there = is_full ? where.devices().find(name) : nullptr) where.choose(*n, *there);
    }
}

RILL_COLD partitioned_plan::partitioned_plan(std::vector<part_graph> parts, std::vector<cross_edge> edges,
                                             std::size_t fetches, const session_options& options,
                                             std::shared_ptr<resource_store> resources)
    : resources_(std::move(resources)), progress_timeout_(options.progress_timeout), edges_(std::move(edges)),
      fetches_(fetches) {
    // nodes of the parts request the devices that they were placed on; do not report them again
    auto quiet = options;
    quiet.log_device_placement = false;
    const auto places = make_placement(quiet);
    for (auto& p : parts) {
        keep_variables(p, *places);
        auto compiled = std::make_unique<plan>(p.key(), quiet, resources_, places);
        compiled->use_stages(quiet); // so that one queue runs the stages of all parts
        parts_.push_back({std::move(p), std::move(compiled)});
    }
}

RILL_COLD partitioned_plan::~partitioned_plan() {
    for (auto& p : parts_) {
        p.run = nullptr;
        resources_->forget(p.made.of.state());
    }
}

RILL_COLD void partitioned_plan::close() noexcept {
    for (auto& p : parts_) p.run->close();
}

RILL_COLD std::string partitioned_plan::memory_report() const {
    std::string text;
    for (const auto& p : parts_) text += p.run->memory_report();
    return text;
}

}}} // namespace rill::RILL_ABI::detail
