// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/runtime/plan/compile_graph.hpp>

#include <cstddef>
#include <string>

#include <rill/core/algorithm.hpp>
#include <rill/core/log.hpp>
#include <rill/core/shared.hpp>
#include <rill/graph/graph.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>
#include <rill/passes/prune.hpp>
#include <rill/passes/region_share.hpp>
#include <rill/runtime/dynamic_runtime.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Returns the graph of a run; null for an empty body.
RILL_COLD const graph_state* graph_of(const plan_key& key) {
    if (!key.fetches.empty()) return key.fetches[0].from->owner;
    return key.targets.empty() ? nullptr : key.targets[0]->owner;
}

/// Prunes a run, with functional ops replacing its control-flow primitives.
RILL_COLD compiled_graph prune_graph(const plan_key& key, const dynamic_runtime* control, bool raise_primitives) {
    compiled_graph made;
    const auto* owner = control ? graph_of(key) : nullptr;
    if (const auto* primitive = owner ? owner->primitive() : nullptr) // another thread may add the first one just now
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

/// Throws unimplemented if the item runs primitives of several parts on the dataflow executor. Checks the shares of partitioned nodes too.
RILL_COLD void refuse_primitives(const subgraph::item& it, const part_function& part_of, placement& where) {
    if (it.share) {
        for (const auto& b : it.share->bodies)
            for (const auto& inner : b.steps.items) refuse_primitives(inner, part_of, where);
        return;
    }
    if (!it.origin || !it.origin->bodies) return;
    const node& n = *it.origin;
    for (const auto& b : *n.bodies) {
        if (!b.functionalized || !b.functionalized->is_dataflow) continue;
        const node* first = nullptr;
        for (const auto* inner : nodes_in(b, *n.owner)) {
            const auto role = inner->op->role();
            if (role == op_role::constant || role == op_role::placeholder) continue;
            if (!first) first = inner;
            const auto &there = where.device_of(*first), &here = where.device_of(*inner);
            if (&part_of(there) != &part_of(here))
                throw unimplemented(error_at(
                    *inner, inner->op->label(),
                    "control-flow primitives that form no branch or loop, and what follows from them, run in one part: "
                    "'" +
                        inner->name + "' is on " + to_string(here.full) + ", but '" + first->name + "' (made at " +
                        to_string(first->where) + ") on " + to_string(there.full) +
                        "; use while_loop and cond, or one device for all of these nodes"));
        }
    }
}

/// Throws unimplemented if an unpartitioned node in the part of `there` has a body with a node in another task. Primitives and nodes that
/// depend on them were checked by refuse_primitives.
RILL_COLD void refuse_other_parts(const node& n, const node& runs, const device& there, const part_function& part_of,
                                  placement& where) {
    if (!runs.bodies) return;
    for (const auto& b : *runs.bodies)
        for (const auto* inner : nodes_in(b, *runs.owner)) {
            const auto role = inner->op->role();
            const auto& here = where.device_of(*inner);
            const bool has_part = !b.functionalized && role != op_role::constant && role != op_role::placeholder;
            if (has_part && &part_of(here) != &part_of(there))
                throw unimplemented(error_at(n, n.op->label(),
                                             "its body runs on " + to_string(there.full) + ", but '" + inner->name +
                                                 "' (made at " + to_string(inner->where) + ") on " +
                                                 to_string(here.full) +
                                                 "; place the node beside the resource of its body"));
            refuse_other_parts(n, *inner, there, part_of, where);
        }
}

RILL_COLD placed_parts compile_partition(const plan_key& key, const dynamic_runtime* control,
                                         const session_options& options, placement& where,
                                         const part_function& part_of) {
    const auto run_passes = [&](partition_phase phase, subgraph g) {
        for (const auto& pass : graph_passes)
            if (pass.phase == phase) g = checked_pass(pass.run(std::move(g), where), pass.sorted);
        return g;
    };
    std::vector<std::shared_ptr<const functionalized_graph>> flows; // these own nodes of the items
    const auto items_of = [&](const plan_key& run) {
        auto made = prune_graph(run, control, options.raise_primitives);
        flows.push_back(std::move(made.flow));
        return run_passes(partition_phase::before, std::move(made.items));
    };
    const part_function whose = part_of ? part_of : [](const device& d) -> const device& { return d; };
    exchange_inserter cut(
        whose, where.devices(), options.wire, [&](const body& b) { return items_of(plan_key_of(b)); },
        [&](const node& n) -> const device& { return where.device_of(n); });
    auto g = checked_pass(cut.run(items_of(key)), true);
    const auto& host = where.devices().cpu().full;
    const bool one_task = detail::none_of(where.devices().all(), [&](const device* d) {
        return d->full.job != host.job || d->full.replica != host.replica || d->full.task != host.task;
    });
    if (cut.part_count() > 1)
        for (const auto& it : g.items) {
            refuse_primitives(it, whose, where);
            if (!one_task && it.origin && !it.share)
                refuse_other_parts(*it.origin, *it.origin, *it.device, whose, where);
        }
    g = run_passes(partition_phase::after, std::move(g));
    g = checked_pass(cut.bundle(std::move(g)), true);
    auto made = cut.take_apart(checked_pass(cut.schedule(std::move(g), cost_model(where.costs().get())), true));
    for (auto& f : flows)
        if (f) made.owners.push_back(std::move(f));
    return made;
}

RILL_COLD void log_placed(const node& n, const device& there) {
    log_message(log_level::info, n.name + ": (" + std::string(n.op->name()) + "): " + logged_name(there.full));
}

RILL_COLD std::shared_ptr<placement> make_placement(const session_options& options, std::span<const device_name> tasks,
                                                    placement::report_function report) {
    if (!options.log_device_placement) report = nullptr;
    const std::span<const device_name> all = tasks.empty() ? placement::local_task() : tasks;
    std::shared_ptr<cost_record> costs; // a cluster never learns
    if (tasks.empty() && options.placer == placers::by_cost && options.learn)
        costs = detail::make_shared<cost_record>();
    auto made = detail::make_shared<placement>(options.device_count, all, default_device(),
                                               options.allow_soft_placement, std::move(report), options.placer,
                                               std::move(costs), options.gpu); // refuses wrong options first
    for (const auto* type : known_devices())
        if (type->limit_memory) type->limit_memory(*type, options.gpu);
    return made;
}

}}} // namespace rill::RILL_ABI::detail
