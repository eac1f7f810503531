// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <rill/config.hpp>

namespace rill { inline namespace RILL_ABI {

/// The clock, scheduler and source of randomness of a session. Steps wait, schedule calls and read the time only through it. Other threads
/// are the helpers of a thread_pool, the functions that coordinator::start runs, the writer of save_later, and those of ZeroMQ and MPI.
/// Tests use a virtual environment, which runs many sessions in one thread with a schedule drawn from a seed.
class RILL_EXPORT environment {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using task = std::function<void()>; // must not throw

    /// A call scheduled by `at`. Its destructor withdraws the call; it does not wait for a call that has begun.
    class timer {
    public:
        timer() = default;
        explicit timer(task withdraw) : withdraw_(std::move(withdraw)) {}
        timer(timer&& other) noexcept : withdraw_(std::exchange(other.withdraw_, nullptr)) {}
        timer& operator=(timer&& other) noexcept {
            std::swap(withdraw_, other.withdraw_);
            return *this;
        }
        ~timer() {
            if (withdraw_) withdraw_();
        }

    private:
        task withdraw_;
    };

    /// A signal that threads wait for and others notify.
    class signal {
    public:
        virtual ~signal() = default;
        /// Waits until notified or until the given time; the lock is released meanwhile. May return early.
        virtual void wait(std::unique_lock<std::mutex>& lock, time_point until) = 0;
        virtual void notify() noexcept = 0;
    };

    virtual ~environment() = default;
    virtual time_point now() = 0;
    /// Returns the time `d` from now, or time_point::max() on overflow.
    time_point now_plus(std::chrono::nanoseconds d) {
        const auto from = now();
        return d > time_point::max() - from ? time_point::max()
                                            : from + std::chrono::duration_cast<time_point::duration>(d);
    }
    /// Chooses which of n ready tasks runs next; returns a number below n.
    virtual std::size_t choose(std::size_t n) = 0;
    /// Returns 64 random bits, for identifiers and jitter.
    virtual std::uint64_t draw() = 0;
    /// Runs a task soon, on a thread of the environment. If post() throws, the task does not run.
    virtual void post(task f) = 0;
    /// Runs a task at the given time or later, also while all tasks of post() compute. The task must be short, since all timers may share one
    /// thread: it posts longer work.
    virtual timer at(time_point when, task f) = 0;
    virtual std::unique_ptr<signal> make_signal() = 0;

    /// Returns the real environment. It uses the steady clock and runs the most recently readied task first. A few threads start with
    /// the first task. One for timers starts with the first timer.
    static environment& real();
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/environment.ipp>
#endif
