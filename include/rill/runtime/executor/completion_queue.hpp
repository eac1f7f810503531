// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
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

/// The completion queue of a step: its ready stages, its deferred ops, and their completions. All runs of the step share it.
class completion_queue {
public:
    completion_queue(std::chrono::nanoseconds progress_timeout, const step_context& context)
        : progress_timeout_(progress_timeout), context_(context) {}
    ~completion_queue();

    struct stage {
        step_part* of = nullptr;
        std::size_t number = 0;
    };
    void add(stage p) { ready_.push_back(p); }
    /// Removes and returns the stage to run next. If none is ready, waits for completions, handles them, and returns an empty stage.
    stage next();
    /// Removes and returns at most `most` of the ready stages that `wanted` accepts.
    std::vector<stage> take(std::size_t most, const std::function<bool(const stage&)>& wanted);
    /// Registers a deferred op of a stage, and returns the callback that completes it.
    completion defer(stage p, std::function<bool()> give_up);
    /// Returns the time in a trace of the completion that is being handled.
    std::int64_t came_at() const { return came_at_; }
    /// Withdraws the deferred ops that have not completed. Returns true if there were any.
    bool give_up() noexcept;

private:
    struct arrival {
        std::uint64_t ticket;
        std::int64_t at;
        std::exception_ptr problem;
        std::vector<any_array> outputs;
    };
    /// The completions so far. Shared with the callbacks, which may outlive the step.
    struct arrivals {
        std::mutex mutex;
        std::condition_variable more;
        std::vector<arrival> all;
        step_recorder* clock = nullptr; // set for a traced step, until it ends
    };
    struct started {
        std::uint64_t ticket; // a second completion for the same ticket is ignored
        stage of;
        std::function<bool()> give_up;
    };

    void wait();
    void check_progress(environment::time_point since) const;
    std::string waited_for() const;

    const std::chrono::nanoseconds progress_timeout_;
    const step_context& context_;
    std::vector<stage> ready_;
    vector<started> started_;
    std::uint64_t last_ = 0;
    std::shared_ptr<arrivals> arrivals_; // null before the first deferred op
    std::int64_t came_at_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/completion_queue.ipp>
#endif
