// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Threads that run tasks now or at a given time. A thread starts when no thread is idle, up to a maximum. A thread blocked in
/// environment::signal does not count, so tasks that wait for other tasks can't deadlock the executor.
class executor {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using task = std::function<void()>; // must not throw; an exception is only logged

    explicit executor(int max_threads);
    /// Waits for the running tasks. Tasks that have not begun are dropped.
    ~executor();
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;

    /// Schedules a task to run now. If it throws, the task does not run.
    void post(task f);
    /// Schedules a task; returns the number with which it can be withdrawn.
    std::uint64_t post_at(time_point when, task f);
    /// Drops a timed task that has not begun.
    void withdraw(std::uint64_t number);
    /// Returns the number of threads that have started.
    int threads() const;

    /// A guard that marks the calling thread as blocked. It has no effect on threads outside executors.
    class blocked_thread {
    public:
        blocked_thread();
        ~blocked_thread();
        blocked_thread(const blocked_thread&) = delete;
        blocked_thread& operator=(const blocked_thread&) = delete;
    };

private:
    struct shared;
    std::unique_ptr<shared> shared_;
};

}}} // namespace rill::RILL_ABI::detail

#if !RILL_COMPILED
#include <rill/core/executor.ipp>
#endif
