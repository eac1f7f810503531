// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <span>

#include <rill/runtime/options.hpp>
#include <rill/runtime/plan_key.hpp>
#include <rill/runtime/segment.hpp>

namespace rill::inline RILL_ABI::detail {

/// A run, compiled: pruned, shared, ordered and placed once; bound to shapes as they come.
class plan {
public:
    plan(const plan_key& key, const session_options& options, std::shared_ptr<resource_store> resources);

    const subgraph& graph() const noexcept { return graph_; }

    /// Gives up the segments that no run is using.
    void release() noexcept;

    /// A line for each segment: what it runs and the memory of a step.
    std::string memory_report();

    /// The segment for these shapes of the feeds: the last one used, another kept one, or a new one.
    std::shared_ptr<segment> bind(std::span<const tensor_type> feeds);

private:
    static constexpr std::size_t kept = 16; // shapes per plan

    std::shared_ptr<resource_store> resources_;
    allocator& memory_;
    subgraph graph_;
    std::mutex mutex_;
    std::list<std::shared_ptr<segment>> segments_;
};

} // namespace rill::inline RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan.ipp>
#endif
