// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/runtime/cut.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/segment.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;
struct held_step;

/// A node that stands alone, bound to types as they come.
class alone_node {
public:
    alone_node(subgraph::item it, const session_options& options, std::shared_ptr<resource_store> resources,
               const device_type& otherwise);

    const subgraph::item& item() const { return item_; }
    bool waits() const { return item_.op->waits(); }
    /// Its outputs, unless it asked `wait` to come later.
    std::vector<any_array> run(std::span<const any_array> inputs, const step_context* context, waiting* wait) const;
    /// What is being handled, as an error of the node's.
    [[noreturn]] void rethrow() const;
    void close() const;

private:
    struct bound;
    std::shared_ptr<const bound> bind(std::span<const tensor_type> inputs) const;
    std::vector<any_array> run_kernel(std::span<const any_array> inputs, const step_context* context,
                                      waiting* wait) const;

    static constexpr std::size_t kept = 16; // types

    subgraph::item item_;
    std::shared_ptr<resource_store> resources_;
    allocator& memory_;
    body_plans bodies_;
    mutable std::mutex mutex_;
    mutable vector<std::shared_ptr<const bound>> bound_; // the last used first
};

/// A run in pieces, compiled.
class piecewise_plan {
public:
    piecewise_plan(const subgraph& g, const session_options& options, std::shared_ptr<resource_store> resources,
                   const device_type& otherwise);

    const pieces& cut() const { return pieces_; }
    plan& line(std::size_t piece) const { return *lines_[piece]; }
    const alone_node* alone(std::size_t piece) const { return alone_[piece].get(); }
    /// Variables that a piece reads as they were when the step began.
    const std::vector<const node*>& pinned() const { return pinned_; }
    /// What a run begins with, but for its feeds: the handles of resources.
    const std::vector<any_array>& first_values() const { return first_values_; }
    /// Per piece: who waits for it, and for how many it waits itself.
    const std::vector<std::vector<std::size_t>>& next() const { return next_; }
    const std::vector<int>& missing() const { return missing_; }
    resource_store& resources() const { return *resources_; }
    std::chrono::nanoseconds patience() const { return patience_; }
    void close() const noexcept;

private:
    void find_pinned(const subgraph& g);
    void find_order();

    pieces pieces_;
    std::vector<std::vector<std::size_t>> next_;
    std::vector<int> missing_;
    vector<std::unique_ptr<alone_node>> handles_;
    std::vector<any_array> first_values_;
    std::shared_ptr<resource_store> resources_;
    vector<std::unique_ptr<plan>> lines_;       // per piece
    vector<std::unique_ptr<alone_node>> alone_; // per piece
    std::vector<const node*> pinned_;
    std::chrono::nanoseconds patience_; // how long a step waits for nodes that wait, while nothing happens
};

/// One run in pieces: values between them, and the frames they lie in.
class piecewise_run {
public:
    piecewise_run(const piecewise_plan& p, std::span<const any_array> feeds);
    ~piecewise_run();

    void run(const step_context& context);
    const any_array& fetched(std::size_t i) const { return values_[plan_.cut().fetches[i]]; }

private:
    struct arrivals;
    class place_to_wait;

    void run_or_give_up(const step_context& context);
    void run_to_end(const step_context& context);
    void run_line(std::size_t p, const step_context& context);
    /// Whether it is done.
    bool run_alone(std::size_t p, const step_context& context);
    void wait(const step_context& context);
    void check_patience(std::chrono::steady_clock::time_point since) const;
    std::string waits_for() const;
    bool give_up_waiting() noexcept;
    void give(std::size_t p, std::vector<any_array> outputs);
    void complete(std::size_t p);

    const piecewise_plan& plan_;
    std::vector<any_array> values_;
    std::vector<std::unique_ptr<held_step>> held_; // per piece
    std::vector<int> missing_;                     // per piece
    std::vector<std::size_t> ready_;
    std::size_t left_;
    vector<std::pair<std::size_t, std::function<bool()>>>
        waiting_;                        // pieces that were started and are not done: how each is given up
    std::shared_ptr<arrivals> arrivals_; // made when something waits
    pinned_versions versions_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/piecewise.ipp>
#endif
