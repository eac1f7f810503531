// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include <rill/core/owned.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/runtime/program/segment.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class dataflow_plan;
class staged_plan;
class step_executor;
class functionalized_graph;

/// What a run holds: a frame and the segment it belongs to; of a run in pieces, the pieces'.
struct execution_state {
    std::shared_ptr<segment> of;
    std::unique_ptr<frame> memory;
    owned<step_executor> is_staged = owns_none<step_executor>();
};

/// A run, compiled: pruned, shared, ordered and placed once; bound to shapes as they come.
class plan {
public:
    /// Nodes that ask for no device run on `otherwise`.
    plan(const plan_key& key, const session_options& options, std::shared_ptr<resource_store> resources,
         const device_type& default_device = rill::default_device());

    /// A straight line of a run in pieces.
    plan(subgraph part, const session_options& options, std::shared_ptr<resource_store> resources,
         const device_type& default_device, const control_flow& control);

    ~plan();

    const subgraph& graph() const noexcept { return graph_; }
    /// Null of a run that is one straight line.
    const staged_plan* is_staged() const noexcept { return in_pieces_.load(std::memory_order_acquire); }
    /// Null of a run whose nodes do not run one by one.
    const dataflow_plan* is_dataflow() const noexcept { return frames_.get(); }
    /// What runs those of its nodes that are no steps.
    const control_flow& control() const noexcept { return *bodies_.control; }

    /// A frame of the segment for these feeds. Of runs that follow one another, each takes over what the last one gave back:
    /// two atomic exchanges a step, no lock.
    std::unique_ptr<execution_state> acquire(std::span<const any_array> feeds);
    void release(std::unique_ptr<execution_state> step) noexcept;

    /// Gives up the segments that no run is using; those in use go with their runs.
    void close() noexcept;

    /// A line for each segment: what it runs and the memory of a step.
    std::string memory_report();

    /// From now on it is run in pieces, if it has nodes that may have to stand alone.
    void use_stages();

    /// The segment for these shapes of the feeds: the last one used, another kept one, or a new one. Throws dynamic_shape_found where these shapes
    /// show that it is no straight line; from then on it is run in pieces.
    std::shared_ptr<segment> bind(std::span<const tensor_type> feeds);

private:
    /// What may have to be cut yet.
    struct unsplit {
        subgraph graph;
        session_options options;
        const device_type& default_device;
    };

    /// Places what is ordered, and compiles bodies.
    void place_items(const session_options& options, const device_type& default_device);
    void split_into_stages(const subgraph& g, const session_options& options, const device_type& default_device);
    void split_late();
    std::unique_ptr<execution_state> begin_in_pieces(std::span<const any_array> feeds);
    std::unique_ptr<execution_state> acquire_new(std::unique_ptr<execution_state> step,
                                                 std::span<const any_array> feeds);

    static constexpr std::size_t kept = 16; // shapes per plan

    std::shared_ptr<resource_store> resources_;
    allocator& memory_;
    std::shared_ptr<const functionalized_graph> flow_; // what stands for primitives of control flow
    subgraph graph_;
    body_plans bodies_; // of its nodes that run any
    std::unique_ptr<const unsplit> unsplit_;
    owned<const staged_plan> stages_ = owns_none<const staged_plan>();
    std::atomic<const staged_plan*> in_pieces_{nullptr}; // those
    owned<const dataflow_plan> frames_ = owns_none<const dataflow_plan>();
    std::mutex mutex_;
    std::list<std::shared_ptr<segment>> segments_;
    std::atomic<execution_state*> ready_{nullptr}; // given back last
    std::atomic<bool> closed_{false};
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan/plan.ipp>
#endif
