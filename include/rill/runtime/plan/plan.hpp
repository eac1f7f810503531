// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include <rill/core/owned.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan/compile_graph.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/runtime/segment/segment.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class dataflow_plan;
class staged_plan;
class step_executor;
class functionalized_graph;

/// The state of a run: a frame and the segment it belongs to, or the executor of a run in stages.
struct execution_state {
    std::shared_ptr<segment> of;
    std::unique_ptr<frame> memory;
    owned<step_executor> is_staged = owns_none<step_executor>();
    std::vector<any_array> values = {}; // values of a finished step
};

/// A compiled run: pruned, placed, shared and ordered once (compile_graph), then bound to shapes on demand.
class plan {
public:
    /// Compiles a run. `where` is the placement of the session; `edges` gives the memories of feeds and fetches.
    plan(const plan_key& key, const session_options& options, std::shared_ptr<resource_store> resources,
         std::shared_ptr<placement> where, const edge_devices& edges = {});

    /// Compiles a static segment of a run in stages, whose items are placed.
    plan(subgraph part, const session_options& options, std::shared_ptr<resource_store> resources,
         std::shared_ptr<placement> where, const dynamic_runtime& control);

    ~plan();

    const subgraph& graph() const noexcept { return graph_; }
    /// Returns the memory in which feed `i` lies; null for the host's.
    const memory_space* feed_space(std::size_t i) const;
    /// Returns the staged plan; null if the run is one static segment.
    const staged_plan* is_staged() const noexcept { return staged_.load(std::memory_order_acquire); }
    /// Returns the dataflow plan; null if the run does not use the dataflow executor.
    const dataflow_plan* is_dataflow() const noexcept { return dataflow_.get(); }
    /// Returns the runtime of dynamic nodes.
    const dynamic_runtime& control() const noexcept { return *bodies_.control; }

    /// Returns a frame of the segment for these feeds, with their addresses. Consecutive runs reuse the last released frame, with two
    /// atomic exchanges per step and no lock.
    std::unique_ptr<execution_state> acquire(std::span<const any_array> feeds);
    void release(std::unique_ptr<execution_state> step) noexcept;
    /// Runs an acquired step to its end, on this thread.
    void run(execution_state& step, const step_context& context);
    /// Returns a fetched value of a run in stages.
    const any_array& fetched(const execution_state& step, std::size_t i) const;
    /// Returns copies of a run's fetched values, each in the memory where the value lies.
    std::vector<any_array> fetched_values(const execution_state& step) const;

    /// Drops unused segments; the others are freed with their runs.
    void close() noexcept;

    /// Returns a line for each segment: its fetches, and the memory of a step.
    std::string memory_report();

    /// Switches to stages for all later runs, if the plan has nodes that may be dynamic.
    void use_stages();
    /// Switches to stages even if the plan is one static segment, for a part of a run. Call it before the first run. The program's dynamic
    /// runtime must be registered.
    void use_stages(const session_options& options);

    /// Returns the segment for these feed types: the last one used, another cached one, or a new one. Returns null if binding shows a
    /// dynamic node; the plan then runs in stages.
    std::shared_ptr<segment> bind(std::span<const tensor_type> feeds);

private:
    void compile_bodies(const session_options& options);
    void split_into_stages(const session_options& options);
    void split_late();
    std::unique_ptr<execution_state> begin_staged(std::span<const any_array> feeds);
    static std::unique_ptr<execution_state> fed(std::unique_ptr<execution_state> step,
                                                std::span<const any_array> feeds);
    std::unique_ptr<execution_state> acquire_new(std::unique_ptr<execution_state> step,
                                                 std::span<const any_array> feeds);

    static constexpr std::size_t kept = 16; // cached segments

    std::shared_ptr<resource_store> resources_;
    allocator& memory_;
    std::shared_ptr<placement> where_;                   // owns the devices of the items
    const device_use use_;                               // as session_options::gpu says
    std::shared_ptr<const functionalized_graph> flow_;   // replacements of control-flow primitives
    subgraph graph_;                                     // placed and sorted, with copies between memories
    body_plans bodies_;                                  // plans of its nodes' bodies
    std::unique_ptr<const session_options> splits_with_; // set if the plan may be split into stages later
    owned<const staged_plan> stages_ = owns_none<const staged_plan>();
    std::atomic<const staged_plan*> staged_{nullptr}; // the same, for readers without a lock
    owned<const dataflow_plan> dataflow_ = owns_none<const dataflow_plan>();
    std::mutex mutex_;
    std::list<std::shared_ptr<segment>> segments_;
    std::atomic<execution_state*> ready_{nullptr}; // the last released one
    std::atomic<bool> closed_{false};
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan/plan.ipp>
#endif
