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

/// A run that is part of a step, as what it shares with others sees it.
class step_part {
public:
    /// What a piece waited for has come.
    virtual void on_completed(std::size_t stage, std::exception_ptr problem, std::vector<any_array> outputs) = 0;
    /// What a piece waits for, as messages say it.
    virtual std::string place_of_piece(std::size_t stage) const = 0;

protected:
    ~step_part() = default;
};

/// A run that others are part of.
class parent_run {
public:
    /// What was begun under that number is over. What goes wrong from here on leaves as an error of the outermost run's.
    virtual void inner_done(std::size_t number, std::vector<any_array> results) = 0;
    /// What is being handled, and went wrong under that number, as an error of the outermost run's.
    [[noreturn]] virtual void rethrow_inner(std::size_t number) const = 0;

protected:
    ~parent_run() = default;
};

class completion_queue;

/// A run that is part of another one, and of its step.
class nested_run {
public:
    virtual ~nested_run() = default;
    /// What it gives, if it is over at once; else `outer` is told later, which may end its life.
    virtual std::optional<std::vector<any_array>> begin(parent_run& outer, std::size_t number, completion_queue& events,
                                                        const step_context& context) = 0;
};

/// What the runs of a step share: the pieces that are ready, what is waited for, and what has come of it.
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
    /// One that goes next; none is ready: it sleeps until something has come, and gives none.
    stage next();
    /// Those of the ready ones that `wanted` says yes to, at most so many. They are no longer ready.
    std::vector<stage> take(std::size_t most, const std::function<bool(const stage&)>& wanted);
    /// Something is started that comes later.
    completion defer(stage p, std::function<bool()> give_up);
    /// When what has come was brought, of a step that is written down.
    std::int64_t came_at() const { return came_at_; }
    /// Whether anything is given up; other things have come to their end.
    bool give_up() noexcept;

private:
    struct arrival {
        std::uint64_t ticket;
        std::int64_t at;
        std::exception_ptr problem;
        std::vector<any_array> outputs;
    };
    /// Shared with who brings it, perhaps when the step is over.
    struct arrivals {
        std::mutex mutex;
        std::condition_variable more;
        std::vector<arrival> all;
        step_recorder* clock = nullptr; // of a step that is written down, as long as it lasts
    };
    struct started {
        std::uint64_t ticket; // what comes a second time finds its ticket gone
        stage of;
        std::function<bool()> give_up;
    };

    void wait();
    void check_patience(environment::time_point since) const;
    std::string waited_for() const;

    const std::chrono::nanoseconds progress_timeout_;
    const step_context& context_;
    std::vector<stage> ready_;
    vector<started> started_;
    std::uint64_t last_ = 0;
    std::shared_ptr<arrivals> arrivals_; // made when something waits
    std::int64_t came_at_ = 0;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/runtime/executor/completion_queue.ipp>
#endif
