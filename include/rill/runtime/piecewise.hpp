// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <rill/runtime/cut.hpp>
#include <rill/runtime/options.hpp>
#include <rill/runtime/segment.hpp>
#include <rill/runtime/step_events.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class plan;
class alone_node;
struct held_step;

/// A run in pieces, compiled.
class piecewise_plan {
public:
    piecewise_plan(const subgraph& g, const session_options& options, std::shared_ptr<resource_store> resources,
                   const device_type& otherwise);
    ~piecewise_plan();

    const pieces& cut() const { return pieces_; }
    plan& line(std::size_t piece) const { return *lines_[piece]; }
    const alone_node* alone(std::size_t piece) const { return alone_[piece].get(); }
    /// Variables that a piece reads as they were when the step began.
    const std::vector<const node*>& pinned() const { return pinned_; }
    /// What a run begins with, but for its feeds: the handles of resources.
    const std::vector<any_array>& first_values() const { return first_values_; }
    /// Of a value that one node takes and keeps: where that makes its arrays. Null of others.
    allocator* kept_in(int value) const { return kept_in_[static_cast<std::size_t>(value)]; }
    /// Per piece: who waits for it, and for how many it waits itself.
    const std::vector<std::vector<std::size_t>>& next() const { return next_; }
    const std::vector<int>& missing() const { return missing_; }
    resource_store& resources() const { return *resources_; }
    std::chrono::nanoseconds patience() const { return patience_; }
    void close() const noexcept;

private:
    void find_pinned(const subgraph& g);
    void find_order();
    void find_kept();

    pieces pieces_;
    std::vector<std::vector<std::size_t>> next_;
    std::vector<int> missing_;
    vector<std::unique_ptr<alone_node>> handles_;
    std::vector<any_array> first_values_;
    std::vector<allocator*> kept_in_; // per value
    std::shared_ptr<resource_store> resources_;
    vector<std::unique_ptr<plan>> lines_;       // per piece
    vector<std::unique_ptr<alone_node>> alone_; // per piece
    std::vector<const node*> pinned_;
    std::chrono::nanoseconds patience_; // how long a step waits for nodes that wait, while nothing happens
};

/// One run in pieces: values between them, and the frames they lie in. Of the runs of a step, that of the bodies of a node is part of the
/// run that the node is in; all share what is ready and what they wait for, so that none holds another up.
class piecewise_run final : public inner_run, step_part, outer_run {
public:
    piecewise_run(const piecewise_plan& p, std::span<const any_array> feeds);
    ~piecewise_run() override;

    /// All of it, as a step of its own.
    void run(const step_context& context);
    const any_array& fetched(std::size_t i) const { return values_[plan_.cut().fetches[i]]; }

private:
    class place_to_wait;
    struct body_run;
    struct wait {
        std::size_t piece;
        int entry; // in the trace
    };

    void begin(step_events& events, const step_context& context);
    std::optional<std::vector<any_array>> begin(outer_run& outer, std::size_t number, step_events& events,
                                                const step_context& context) override;
    void run_to_end();
    void run_piece(std::size_t p);
    /// A piece that is ready; and if it is a long line, others beside it.
    void run_ready(std::size_t p);
    static void run_beside(std::span<const step_events::piece> lines, const branches& dealt, thread_pool& pool);
    /// What a line is bound to.
    const segment& hold(std::size_t p);
    void run_line(std::size_t p);
    /// Whether it is done; else it waits, or its bodies run.
    bool run_alone(std::size_t p);
    bool go_on(std::size_t p, std::vector<any_array> given);
    void begin_wait(std::size_t p);
    step_trace::entry entry_of(std::size_t p) const;
    std::vector<any_array> all_fetched() const;
    void arrived(std::size_t p, std::exception_ptr problem, std::vector<any_array> outputs) override;
    std::string place_of_piece(std::size_t p) const override;
    void inner_done(std::size_t p, std::vector<any_array> results) override;
    [[noreturn]] void rethrow_inner(std::size_t p) const override;
    [[noreturn]] void rethrow_outwards() const;
    void give(std::size_t p, std::vector<any_array> outputs);
    void complete(std::size_t p);

    const piecewise_plan& plan_;
    std::vector<any_array> values_;
    std::vector<std::unique_ptr<held_step>> held_; // per piece
    std::vector<int> missing_;                     // per piece
    std::size_t left_;
    vector<std::unique_ptr<body_run>> bodies_; // of nodes that have begun theirs
    std::vector<wait> waits_;                  // of a run that is written down
    outer_run* outer_ = nullptr;               // that this is part of
    std::size_t outer_number_ = 0;
    step_events* events_ = nullptr;
    const step_context* context_ = nullptr;
    pinned_versions versions_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/piecewise.ipp>
#endif
