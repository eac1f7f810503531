// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/hash_map.hpp>
#include <rill/runtime/executor/completion_queue.hpp>
#include <rill/runtime/executor/nested_run.hpp>
#include <rill/runtime/segment/parallel_regions.hpp>
#include <rill/runtime/segment/segment.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

class staged_plan;
struct execution_state;

/// The executor of a run in stages: the values between stages, and the frames. The runs of a node's bodies are nested in the run of the
/// node. All runs of a step share one completion queue, so that none blocks another.
class step_executor final : public nested_run, step_part, parent_run {
public:
    step_executor(const staged_plan& p, std::span<const any_array> feeds);
    RILL_INLINE ~step_executor() override;

    /// Begins a top-level step. The context, except its undo functions, must live until the step has ended. `resume` is called when the
    /// step can continue after drive() has returned false. Without `resume`, drive() blocks its thread.
    void start(const step_context& context, std::function<void()> resume = {});
    /// Runs the stages of the step until it ends (true) or waits (false). Throws the step's error; the step has then ended.
    bool drive();
    const any_array& fetched(std::size_t i) const;

    /// Drives a step of several runs, of which `left` have not ended.
    static bool drive(step_state& step, const std::size_t& left);

private:
    class place_to_wait;
    struct body_run;
    struct wait {
        std::size_t stage;
        int entry; // index in the trace
    };

    void begin(completion_queue& events, const step_context& context);
    RILL_INLINE std::optional<std::vector<any_array>>
    begin(parent_run& outer, std::size_t number, completion_queue& events, const step_context& context) override;
    void run_stage(std::size_t p);
    /// Runs a ready stage. If it is a long static segment, also runs other long ones in parallel.
    void run_ready(std::size_t p);
    static void run_beside(std::span<const completion_queue::stage> lines, const parallel_regions& dealt,
                           thread_pool& pool);
    /// Returns the k-th input value of a stage; zeros in place of an absent value.
    const any_array& taken(std::size_t p, std::size_t k);
    /// Returns the segment of a stage, bound to its input values.
    const segment& hold(std::size_t p);
    void run_segment(std::size_t p);
    /// Returns true if the node has completed; false if it waits, or if its bodies run.
    bool run_dynamic(std::size_t p);
    bool run_bodies(std::size_t p, std::vector<any_array> given);
    void begin_wait(std::size_t p);
    step_trace::entry entry_of(std::size_t p) const;
    std::vector<any_array> all_fetched() const;
    RILL_INLINE void on_completed(std::size_t p, std::exception_ptr problem, std::vector<any_array> outputs) override;
    RILL_INLINE std::string place_of_stage(std::size_t p) const override;
    RILL_INLINE void nested_done(std::size_t p, std::vector<any_array> results) override;
    [[noreturn]] RILL_INLINE void rethrow_nested(std::size_t p) const override;
    [[noreturn]] void rethrow_outwards() const;
    void give(std::size_t p, std::vector<any_array> outputs);
    void complete(std::size_t p);

    const staged_plan& plan_;
    std::vector<any_array> values_;
    hash_map<int, any_array> absent_values_;             // zeros in place of absent values
    std::vector<std::unique_ptr<execution_state>> held_; // per stage: its frame
    std::vector<int> missing_;                           // per stage: dependencies that have not completed
    std::size_t left_;
    vector<std::unique_ptr<body_run>> bodies_; // running bodies of nodes
    std::vector<wait> waits_;                  // only in traced runs
    parent_run* parent_ = nullptr;             // the parent run; null for a step of its own
    std::size_t parent_number_ = 0;
    std::optional<step_state> step_; // set for a top-level step; none for a nested run
    completion_queue* events_ = nullptr;
    const step_context* context_ = nullptr;
    pinned_versions versions_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/step_executor.ipp>
#endif
