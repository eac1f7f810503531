// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <rill/passes/eliminate_common_subexpressions.hpp>
#include <rill/passes/fold_operands.hpp>
#include <rill/passes/functionalize/functionalized_graph.hpp>
#include <rill/passes/merge_region_variants.hpp>
#include <rill/passes/order.hpp>
#include <rill/passes/partition.hpp>
#include <rill/passes/place.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>

// Compilation from a graph to the items of a run: the passes of every run, in one process or several. They place all items. Later steps
// (copies between memories, stages, binding) keep the devices.

namespace rill { inline namespace RILL_ABI { namespace detail {

struct dynamic_runtime;

/// The time of a pass relative to partitioning. `within`: the pass runs only in each part, which is compiled as a separate run.
enum class partition_phase : std::uint8_t { before, within, after };

/// A pass over the items of a run.
struct graph_pass {
    std::string_view name;
    subgraph (*run)(subgraph g, placement& where);
    bool sorted = true; // the result is in topological order
    partition_phase phase = partition_phase::before;
};

/// The passes in execution order. Before them, control-flow primitives are functionalized (if the graph has any), and the graph is pruned
/// to the needed nodes. Bodies of loops and branches are separate runs, compiled by the same passes.
inline constexpr graph_pass graph_passes[] = {
    // one run of a loop or branch serves all nodes that read from it
    {"merge_region_variants", [](subgraph g, placement&) { return merge_region_variants(std::move(g)); }},
    // each item gets its device; no later pass changes it
    {"place", [](subgraph g, placement& where) { return place(std::move(g), where); }},
    // equal items on one device become one
    {"eliminate_common_subexpressions",
     [](subgraph g, placement&) { return eliminate_common_subexpressions(std::move(g)); }},
    // a product reads a transposed operand, and adds the bias that follows it
    {"fold_operands", [](subgraph g, placement&) { return fold_producers(std::move(g)); }, true,
     partition_phase::within},
    // ops on one lock run in order of creation
    {"serialize_lock_ops", [](subgraph g, placement&) { return serialize_lock_ops(std::move(g)); }},
    // reads of a variable come before its writes, or read a copy
    {"order_variable_accesses", [](subgraph g, placement&) { return order_variable_accesses(std::move(g)); }, false,
     partition_phase::after},
    {"sort_items", [](subgraph g, placement&) { return sort_items(std::move(g)); }, true, partition_phase::after},
};

/// The memories at the edges of a run, each named by a device with that memory; null is the host's.
struct edge_devices {
    std::vector<const device*> feeds = {}; // per feed: its memory. Empty: all in host memory
    const device* fetches = nullptr;       // memory of the fetches
};

struct compiled_graph {
    subgraph items;                                             // placed and sorted
    std::shared_ptr<const functionalized_graph> flow = nullptr; // owns added nodes; null if there are none
};

/// Compiles a run up to its placed and sorted items. `control` is the runtime of dynamic nodes; null if the graph has none.
compiled_graph compile_graph(const plan_key& key, const dynamic_runtime* control, bool raise_primitives,
                             placement& where, const edge_devices& edges = {});

/// Compiles a run and partitions it, between all devices or by `part_of`. Passes that look only within a part are left to the runs of the
/// parts. Throws unimplemented for a body with a resource and its users in several parts. Throws it also for control-flow primitives of
/// several parts, unless they form branches and loops. The error names the nodes.
placed_parts compile_partition(const plan_key& key, const dynamic_runtime* control, const session_options& options,
                               placement& where, const part_function& part_of = {});

/// Returns the graph of a run; null if it has neither fetches nor targets.
const graph_state* graph_of(const plan_key& key);

/// Writes the device of a node to the log.
void log_placed(const node& n, const device& there);

/// Returns the placement of a new session. It reports each node that it places if the options ask for a log. `tasks`: the tasks of a cluster,
/// the session's own first; empty: a local session.
std::shared_ptr<placement> make_placement(const session_options& options, std::span<const device_name> tasks = {},
                                          placement::report_function report = log_placed);

/// Checks the result of a pass in debug builds, and returns it.
inline subgraph checked_pass(subgraph g, [[maybe_unused]] bool sorted) {
#ifndef NDEBUG
    check(g, sorted);
#endif
    return g;
}

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan/compile_graph.ipp>
#endif
