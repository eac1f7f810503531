// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <rill/core/owned.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/op/op.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/runtime/region_kernel.hpp>

// The control-flow runtime runs dynamic nodes: region ops, control-flow primitives, async ops, and ops with data-dependent output
// shapes. It is half of the runtime. Plans call it through a table that is registered when a graph gets its first dynamic node.
// Header-only programs without such nodes thus do not compile it.

namespace rill { inline namespace RILL_ABI {

class placement;

namespace detail {

class dataflow_plan;
class staged_plan;
class step_executor;
class functionalized_graph;
class resource_store;

/// Entry points of the control-flow runtime. A table, so that programs without control flow do not link it.
struct dynamic_runtime {
    // plans
    /// Returns a graph with functional ops in place of a run's control-flow primitives; null if there are none.
    std::shared_ptr<const functionalized_graph> (*functionalize)(const plan_key& key, const flow_ops& ops,
                                                                 bool regions);
    owned<const dataflow_plan> (*make_dataflow_plan)(const plan_key& key, const session_options& options,
                                                     const std::shared_ptr<resource_store>& resources,
                                                     const std::shared_ptr<placement>& where);
    /// Returns true if the subgraph has dynamic nodes and therefore runs in stages.
    bool (*needs_stages)(const subgraph& g);
    /// Returns true if binding may show that a static segment has dynamic nodes.
    bool (*may_need_stages)(const subgraph& g);
    owned<const staged_plan> (*make_staged_plan)(const subgraph& g, const session_options& options,
                                                 const std::shared_ptr<resource_store>& resources,
                                                 const std::shared_ptr<placement>& where);
    void (*close)(const dataflow_plan* dataflow, const staged_plan* stages) noexcept;
    void (*compile_bodies)(body_plans& into, const subgraph::item& it, const session_options& options,
                           const std::shared_ptr<resource_store>& resources, const std::shared_ptr<placement>& where);
    // steps
    region_binding (*bind_region)(const subgraph::item& it, std::span<const tensor_type> inputs,
                                  const body_plans& plans, allocator& memory);
    owned<static_region_kernel::memory> (*make_memory)(const static_region_kernel& step);
    /// Returns the number of iterations of a loop; -1 for other region ops.
    std::int64_t (*run_region)(const static_region_kernel& step, static_region_kernel::memory& own,
                               const kernel_args& args);
    // runs
    owned<step_executor> (*begin)(const staged_plan& plan, std::span<const any_array> feeds);
    /// Begins a step. `resume` is called when the step can continue after drive has returned false. Without `resume`, drive blocks
    /// its thread.
    void (*start)(step_executor& run, const step_context& context, std::function<void()> resume);
    /// Runs a step until it ends (true) or waits (false).
    bool (*drive)(step_executor& run);
    const any_array& (*fetched)(const step_executor& run, std::size_t i);
};

/// The program's control-flow runtime; null before register_dynamic_runtime.
RILL_EXPORT inline std::atomic<const dynamic_runtime*> registered_dynamic_runtime{nullptr};

} // namespace detail

}} // namespace rill::RILL_ABI
