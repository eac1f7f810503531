// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <unordered_map>

#include <rill/graph/graph.hpp>
#include <rill/runtime/plan.hpp>

namespace rill::inline RILL_ABI::detail {

/// A finished step: its fetched values stay in the frame until it goes.
class step_result {
public:
    step_result(std::shared_ptr<segment> s, std::unique_ptr<frame> f) : segment_(std::move(s)), frame_(std::move(f)) {}
    step_result(step_result&&) = default;
    ~step_result();

    const tensor_type& type(std::size_t i) const { return segment_->fetch_type(i); }
    const void* data(std::size_t i) const { return segment_->fetch_data(*frame_, i); }

private:
    std::shared_ptr<segment> segment_;
    std::unique_ptr<frame> frame_;
};

/// What a session is made of, shared with its callables. Everything here is independent of static types.
class session_core {
public:
    session_core(const rill::graph& g, const session_options& options);

    const rill::graph& graph() const noexcept { return graph_; }
    const session_options& options() const noexcept { return options_; }

    /// Later runs throw `cancelled`; memory goes once no run uses it.
    void close() noexcept;
    bool closed() const noexcept { return closed_; }

    std::shared_ptr<plan> find_plan(const plan_key& key);

    /// Runs a plan; the values stay borrowed until the result goes.
    step_result run(plan& p, std::span<const any_array> feeds, step_trace* trace = nullptr);

    /// "layer/x:0", or "layer/x" for output 0.
    endpoint edge(const std::string& name) const;

    std::string memory_report();

private:
    void check_open() const;
    void check_key(const plan_key& key) const;

    rill::graph graph_;
    session_options options_;
    std::shared_ptr<resource_store> resources_;
    std::atomic<bool> closed_{false};
    std::mutex mutex_;
    std::unordered_map<plan_key, std::shared_ptr<plan>, plan_key::hash> plans_;
};

} // namespace rill::inline RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/session_core.ipp>
#endif
