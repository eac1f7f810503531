// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/compile_graph.hpp>

#include <cstddef>
#include <string>

#include <rill/core/algorithm.hpp>
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

/// Prunes a run, with functional ops in place of its control-flow primitives.
RILL_COLD compiled_graph prune_graph(const plan_key& key, const dynamic_runtime* control, bool raise_primitives) {
    compiled_graph made;
    if (const auto* primitive =
            control ? graph_of(key)->primitive() : nullptr) // another thread may add the first one just now
        made.flow = control->functionalize(key, primitive->functional_ops(), raise_primitives);
    auto& g = made.items =
        checked_pass(prune(key.fetches, key.targets, key.feeds, key.within, made.flow.get()), !made.flow);
    if (made.flow) g = checked_pass(sort_items(std::move(g)), true);
    return made;
}

RILL_COLD compiled_graph compile_graph(const plan_key& key, const dynamic_runtime* control, bool raise_primitives,
                                       placement& where, const edge_devices& edges) {
    auto made = prune_graph(key, control, raise_primitives);
    auto& g = made.items;
    if (!edges.feeds.empty())
        for (auto& it : g.items)
            if (it.feed >= 0) it.device = edges.feeds[static_cast<std::size_t>(it.feed)];
    for (const auto& pass : graph_passes) g = checked_pass(pass.run(std::move(g), where), pass.sorted);
    return made;
}

/// Throws unimplemented if a body has a node in another task than the node that runs it.
RILL_COLD void refuse_split_bodies(const node& n, const node& runs, placement& where) {
    if (!runs.bodies) return;
    const auto task_of = [](const device& d) { return device_name{d.full.job, d.full.replica, d.full.task, "", -1}; };
    const auto& there = where.device_of(runs);
    for (const auto& b : *runs.bodies)
        for (const auto* inner : runs.owner->nodes_of(b.of)) {
            const auto& here = where.device_of(*inner);
            if (task_of(here) != task_of(there))
                throw unimplemented(error_at(n, n.op->label(),
                                             "its body runs on " + to_string(there.full) + ", but '" + inner->name +
                                                 "' (made at " + to_string(inner->where) + ") on " +
                                                 to_string(here.full) + "; the body of a node runs in one task"));
            refuse_split_bodies(n, *inner, where);
        }
}

RILL_COLD partition compile_partition(const plan_key& key, const dynamic_runtime* control,
                                      const session_options& options, placement& where, const part_function& part_of) {
    auto made = prune_graph(key, control, options.raise_primitives);
    auto& g = made.items;
    const auto run_passes = [&](cut_turn turn) {
        for (const auto& pass : graph_passes)
            if (pass.turn == turn) g = checked_pass(pass.run(std::move(g), where), pass.sorted);
    };
    run_passes(cut_turn::before);
    exchange_inserter cut(
        part_of ? part_of : [](const device& d) -> const device& { return d; }, where.devices(), options.wire);
    g = checked_pass(cut.run(std::move(g)), true);
    const auto& host = where.devices().cpu().full;
    const bool one_task = detail::none_of(where.devices().all(), [&](const device* d) {
        return d->full.job != host.job || d->full.replica != host.replica || d->full.task != host.task;
    });
    if (cut.part_count() > 1)
        for (const auto& it : g.items) {
            if (!it.origin || !it.origin->bodies) continue;
            const node& n = *it.origin;
            if (detail::any_of(*n.bodies, [](const body& b) { return b.functionalized != nullptr; }))
                throw unimplemented(error_at(n, n.op->label(),
                                             "control-flow primitives can't run beside other parts of a run; use "
                                             "while_loop and cond, or one device for all nodes"));
            if (!one_task) refuse_split_bodies(n, n, where);
        }
    run_passes(cut_turn::after);
    return cut.take_apart(checked_pass(cut.bundle(std::move(g)), true));
}

RILL_COLD std::shared_ptr<placement> make_placement(const session_options& options,
                                                    std::span<const device_name> tasks) {
    placement::report_function report;
    if (options.log_device_placement)
        report = [](const node& n, const device& d) {
            log_message(log_level::info, n.name + ": (" + std::string(n.op->name()) + "): " + logged_name(d.full));
        };
    for (const auto* type : known_devices())
        if (type->limit_memory) type->limit_memory(*type, options.gpu);
    if (tasks.empty())
        return detail::make_shared<placement>(options.device_count, default_device(), options.allow_soft_placement,
                                              std::move(report), options.placer);
    return detail::make_shared<placement>(options.device_count, tasks, default_device(), options.allow_soft_placement,
                                          std::move(report), options.placer);
}

}}} // namespace rill::RILL_ABI::detail
