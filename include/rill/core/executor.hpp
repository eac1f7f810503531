// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Threads that run tasks, now or at a time. A thread starts when a task finds none idle, up to a maximum. A thread that blocks in
/// environment::signal does not count, so tasks that wait for other tasks can't stop the executor.
class executor {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using task = std::function<void()>; // throws nothing

    explicit executor(int max_threads);
    /// Waits for the running tasks. Tasks that have not begun are dropped.
    ~executor();
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;

    void post(task f);
    /// Returns the number by which the task can be withdrawn.
    std::uint64_t post_at(time_point when, task f);
    /// Drops a timed task that has not begun.
    void withdraw(std::uint64_t number);
    /// Returns the number of threads that have started.
    int threads() const;

    /// While it lives, the calling thread blocks. It changes nothing on a thread of no executor.
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
