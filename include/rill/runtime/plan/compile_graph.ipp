// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/compile_graph.hpp>

#include <cstddef>
#include <string>

#include <rill/core/log.hpp>
#include <rill/core/shared.hpp>
#include <rill/graph/graph.hpp>
#include <rill/passes/prune.hpp>
#include <rill/runtime/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD const graph_state* graph_of(const plan_key& key) {
    if (!key.fetches.empty()) return key.fetches[0].from->owner;
    return key.targets.empty() ? nullptr : key.targets[0]->owner;
}

RILL_COLD compiled_graph compile_graph(const plan_key& key, const dynamic_runtime* control, bool raise_primitives,
                                       placement& where, const edge_devices& edges) {
    compiled_graph made;
    if (const auto* primitive =
            control ? graph_of(key)->primitive() : nullptr) // another thread may add the first one just now
        made.flow = control->functionalize(key, primitive->functional_ops(), raise_primitives);
    auto& g = made.items =
        checked_pass(prune(key.fetches, key.targets, key.feeds, key.within, made.flow.get()), !made.flow);
    if (made.flow) g = checked_pass(sort_items(std::move(g)), true);
    if (!edges.feeds.empty())
        for (auto& it : g.items)
            if (it.feed >= 0) it.device = edges.feeds[static_cast<std::size_t>(it.feed)];
    for (const auto& pass : graph_passes) g = checked_pass(pass.run(std::move(g), where), pass.sorted);
    return made;
}

RILL_COLD std::shared_ptr<placement> make_placement(const session_options& options) {
    placement::report_function report;
    if (options.log_device_placement)
        report = [](const node& n, const device& d) {
            log_message(log_level::info, n.name + ": (" + std::string(n.op->name()) + "): " + to_string(d.full));
        };
    return detail::make_shared<placement>(options.device_count, default_device(), options.allow_soft_placement,
                                          std::move(report));
}

}}} // namespace rill::RILL_ABI::detail
