// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <rill/passes/place.hpp>
#include <rill/passes/split_into_stages.hpp>
#include <rill/resources/resource_store.hpp>
#include <rill/runtime/options.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;
class dynamic_node;

/// A compiled run in stages: static segments, and the dynamic nodes between them.
class staged_plan {
public:
    /// Splits a placed and sorted subgraph with copies between memories.
    staged_plan(const subgraph& g, const session_options& options, std::shared_ptr<resource_store> resources,
                const std::shared_ptr<placement>& where);
    ~staged_plan();

    const stages& all_stages() const { return stages_; }
    plan& line(std::size_t stage) const { return *lines_[stage]; }
    const dynamic_node* alone(std::size_t stage) const { return alone_[stage].get(); }
    /// Returns the variables whose value at the start of the step all stages read. A large variable is excluded if its only use is an op
    /// that reads slices of it. That op reads the current version when it runs.
    const std::vector<const node*>& pinned() const { return pinned_; }
    /// Returns the initial values of a run, except its feeds: the resource handles.
    const std::vector<any_array>& first_values() const { return first_values_; }
    /// Returns the allocator of the resource that takes ownership of a value, if no other node reads it; else null.
    allocator* kept_in(int value) const { return kept_in_[static_cast<std::size_t>(value)]; }
    /// Returns per stage the stages that depend on it; `missing` returns the number of stages that it depends on.
    const std::vector<std::vector<std::size_t>>& next() const { return next_; }
    const std::vector<int>& missing() const { return missing_; }
    resource_store& resources() const { return *resources_; }
    std::chrono::nanoseconds progress_timeout() const { return progress_timeout_; }
    void close() const noexcept;

private:
    void find_pinned(const subgraph& g);
    void find_order();
    void find_kept();

    stages stages_;
    std::vector<std::vector<std::size_t>> next_;
    std::vector<int> missing_;
    vector<std::unique_ptr<dynamic_node>> handles_;
    std::vector<any_array> first_values_;
    std::vector<allocator*> kept_in_; // per value
    std::shared_ptr<resource_store> resources_;
    vector<std::unique_ptr<plan>> lines_;         // per stage; null for a dynamic node
    vector<std::unique_ptr<dynamic_node>> alone_; // per stage; null for a static segment
    std::vector<const node*> pinned_;
    std::chrono::nanoseconds progress_timeout_; // longest wait for async nodes without any progress
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/plan/staged_plan.ipp>
#endif
