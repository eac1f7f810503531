// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <rill/core/owned.hpp>
#include <rill/device/kernel.hpp>
#include <rill/graph/op/op.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/runtime/region_kernel.hpp>

// What runs nodes that are no steps of a straight line: nodes with bodies, primitives of control flow, nodes that wait or whose results
// only their run sizes. It is half of the runtime. Plans call it through this table, which comes with the ops of such nodes
// (op::control), so that header-only programs that have none compile none of it.

namespace rill { inline namespace RILL_ABI { namespace detail {

class dataflow_plan;
class staged_plan;
class step_executor;
class functionalized_graph;
class resource_store;

/// Calls that lead to it.
struct control_flow {
    // plans
    /// What a run needs in place of primitives; null if it needs none.
    std::shared_ptr<const functionalized_graph> (*raise)(const plan_key& key, const flow_ops& ops, bool regions);
    owned<const dataflow_plan> (*is_dataflow)(const plan_key& key, const session_options& options,
                                          const std::shared_ptr<resource_store>& resources,
                                          const device_type& otherwise);
    /// Whether it is no straight line.
    bool (*needs_stages)(const subgraph& g);
    /// Whether a straight line may turn out to be none.
    bool (*may_need_stages)(const subgraph& g);
    owned<const staged_plan> (*is_staged)(const subgraph& g, const session_options& options,
                                             const std::shared_ptr<resource_store>& resources,
                                             const device_type& otherwise);
    void (*close)(const dataflow_plan* frames, const staged_plan* pieces) noexcept;
    void (*compile_bodies)(body_plans& into, const subgraph::item& it, const session_options& options,
                           const std::shared_ptr<resource_store>& resources, const device_type& otherwise);
    // steps
    region_binding (*bind_region)(const subgraph::item& it, std::span<const tensor_type> inputs, const body_plans& plans,
                                allocator& memory);
    owned<static_region_kernel::memory> (*make_memory)(const static_region_kernel& step);
    /// Tells how many iterations a loop had; of what is none -1.
    std::int64_t (*run_region)(const static_region_kernel& step, static_region_kernel::memory& own, const kernel_args& args);
    // runs
    owned<step_executor> (*begin)(const staged_plan& plan, std::span<const any_array> feeds);
    void (*run)(step_executor& run, const step_context& context);
    const any_array& (*fetched)(const step_executor& run, std::size_t i);
};

}}} // namespace rill::RILL_ABI::detail
