// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/passes/place.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/region_kernel.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A dynamic node, bound to the types of its inputs when it runs. Inputs and outputs lie in the memory of its item's device; host inputs
/// lie in host memory.
class dynamic_node {
public:
    dynamic_node(subgraph::item it, const session_options& options, std::shared_ptr<resource_store> resources,
                 const std::shared_ptr<placement>& where);

    const subgraph::item& item() const { return item_; }
    bool is_async() const { return item_.op->is_async(); }
    /// Runs the node and returns its outputs, unless it deferred them through `wait`. It may take over inputs with a single owner.
    std::vector<any_array> run(std::span<any_array> inputs, const step_context* context, async_context* wait) const;
    /// Throws invalid_argument if outputs contradict the declared types of a node with bodies or dynamic outputs.
    void check(std::span<const any_array> outputs) const;
    /// Begins a run of the node's bodies, which the caller drives. `keep` must outlive it. Returns null if `run` must be used instead.
    std::unique_ptr<region_driver> begin(std::span<const any_array> inputs, std::shared_ptr<const void>& keep) const;
    /// Rethrows the current exception as an error of the node.
    [[noreturn]] void rethrow() const;
    void close() const;

private:
    struct bound;
    std::shared_ptr<const bound> bound_to(std::span<const any_array> inputs) const;
    std::vector<any_array> run_kernel(std::span<any_array> inputs, const step_context* context,
                                      async_context* wait) const;

    static constexpr std::size_t kept = 16; // maximum number of bindings

    subgraph::item item_;
    std::shared_ptr<resource_store> resources_;
    allocator& memory_;
    body_plans bodies_;
    mutable std::mutex mutex_;
    mutable vector<std::shared_ptr<const bound>> bound_; // the most recently used first
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/dynamic_node.ipp>
#endif
