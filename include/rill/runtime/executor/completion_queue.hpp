// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <rill/core/vector.hpp>
#include <rill/device/kernel.hpp>
#include <rill/runtime/trace/step_recorder.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The interface of a run to the completion queue of its step.
class step_part {
public:
    /// Handles the completion of a stage that waited: its outputs, or an error.
    virtual void on_completed(std::size_t stage, std::exception_ptr problem, std::vector<any_array> outputs) = 0;
    /// Returns the name and place of the node that a stage waits for, for messages.
    virtual std::string place_of_stage(std::size_t stage) const = 0;

protected:
    ~step_part() = default;
};

/// The completion queue of a step, shared by all its runs: ready stages, deferred ops, and completions. One thread at a time uses it.
/// Completions may come from any thread.
class completion_queue {
public:
    /// Makes the queue of a step. `resume` is called when the step can continue after wait_for_completions has returned false. Without
    /// `resume`, the step blocks its thread.
    completion_queue(std::chrono::nanoseconds progress_timeout, const step_context& context,
                     std::function<void()> resume = {})
        : progress_timeout_(progress_timeout), context_(context), resume_(std::move(resume)) {}
    ~completion_queue();

    struct stage {
        step_part* of = nullptr;
        std::size_t number = 0;
    };
    void add(stage p) { ready_.push_back(p); }
    /// Removes and returns the stage to run next, or an empty stage if none is ready. Throws if the step is cancelled or its deadline has
    /// passed.
    stage next();
    /// Removes and returns up to `most` ready stages that `wanted` accepts.
    std::vector<stage> take(std::size_t most, const std::function<bool(const stage&)>& wanted);
    /// Registers a deferred op of a stage, and returns the callback that completes it. `awaited` describes the event that the op waits
    /// for.
    completion defer(stage p, std::function<bool()> give_up, std::function<std::string()> awaited = {});
    /// Handles all completions so far, or waits for one. Returns false if the step must leave its thread. Then `resume` is called once
    /// when the step can continue, possibly before this function returns. Throws if the step is cancelled, its deadline has passed, or
    /// `progress_timeout` passes without a completion.
    bool wait_for_completions();
    /// Returns the trace time of the completion that is being handled.
    std::int64_t came_at() const { return came_at_; }
    /// Withdraws all pending deferred ops. Returns true if there were any.
    bool give_up() noexcept;

private:
    using time_point = environment::time_point;
    struct arrival {
        std::uint64_t ticket;
        std::int64_t at;
        std::exception_ptr problem;
        std::vector<any_array> outputs;
    };
    /// The completions so far. Shared with the callbacks, which may outlive the step.
    struct arrivals {
        std::mutex mutex;
        std::vector<arrival> all;                   // with room for all deferred ops: a completion must not fail
        bool awaited = false;                       // the step has left its thread: the next event resumes it
        bool checks = false;                        // the step must check for cancellation and time limits
        std::function<void()> resume;               // null for a step that blocks its thread
        std::unique_ptr<environment::signal> event; // a step that blocks its thread waits for this
        step_recorder* clock = nullptr;             // set for a traced step, until it ends

        void add(arrival a);
        void check();

    private:
        /// Wakes a step that blocks its thread. Returns true if the caller must call `resume`, after it has released the mutex.
        bool wakes();
    };
    struct started {
        std::uint64_t ticket; // a second completion for the same ticket is ignored
        stage of;
        std::function<bool()> give_up;
        std::function<std::string()> awaited;
    };

    void listen();
    void check_limits();
    std::string waited_for() const;
    time_point next_limit() const {
        return given_up_ ? time_point::max() : std::min(context_.deadline, progress_limit_);
    }

    const std::chrono::nanoseconds progress_timeout_;
    const step_context& context_;
    const std::function<void()> resume_;
    std::vector<stage> ready_;
    vector<started> started_;
    std::uint64_t last_ = 0;
    std::shared_ptr<arrivals> arrivals_; // null before the first deferred op
    std::int64_t came_at_ = 0;

    // state of a waiting step
    bool listens_ = false;           // is registered for cancellations and the deadline
    bool waits_ = false;             // has waited since the last completion
    bool given_up_ = false;          // every op has completed, or is completing: no result is lost
    time_point progress_limit_ = {}; // progress limit of the current wait
    cancellation::registration session_, token_;
    environment::timer deadline_, progress_; // for steps that do not block
    time_point progress_at_ = {};            // the time when `progress_` fires
};

/// The state of a step that its runs of stages share.
struct step_state {
    step_context context;
    std::vector<std::function<void()>> on_failure = {};
    completion_queue events;

    step_state(const step_context& of, std::chrono::nanoseconds progress_timeout, std::function<void()> resume)
        : context(of), events(progress_timeout, context, std::move(resume)) {
        if (!context.on_failure) context.on_failure = &on_failure;
    }
    step_state(const step_state&) = delete;

    /// Withdraws waiting ops, and reverts the effects that a failed step must not leave.
    void fail() {
        events.give_up();
        for (const auto& undo : on_failure) undo();
    }
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/completion_queue.ipp>
#endif
