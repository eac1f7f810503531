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

/// The clock, scheduler and source of randomness of a session. Steps wait for others, run later and read the time through it alone. Only
/// helpers of a thread_pool and the functions that coordinator::start runs have threads of their own. Tests replace it by a virtual one,
/// which runs many sessions in one thread and draws their schedule from a seed.
class RILL_EXPORT environment {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using task = std::function<void()>; // throws nothing

    /// A call that `at` has scheduled. Its destructor withdraws the call; it does not wait for one that has begun.
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
        /// Unlocks, waits until notified or until that time, and locks again. May return early.
        virtual void wait(std::unique_lock<std::mutex>& lock, time_point until) = 0;
        virtual void notify() noexcept = 0;
    };

    virtual ~environment() = default;
    virtual time_point now() = 0;
    /// Returns the time so much later than now; time_point::max() if there is none so late.
    time_point now_plus(std::chrono::nanoseconds d) {
        const auto from = now();
        return d > time_point::max() - from ? time_point::max()
                                            : from + std::chrono::duration_cast<time_point::duration>(d);
    }
    /// Returns a number below n: which of n ready things goes next.
    virtual std::size_t choose(std::size_t n) = 0;
    /// Returns 64 random bits, for identities and jitter.
    virtual std::uint64_t draw() = 0;
    /// Runs a task soon, on a thread of the environment.
    virtual void post(task f) = 0;
    /// Runs a task at that time or later, on a thread of the environment.
    virtual timer at(time_point when, task f) = 0;
    virtual std::unique_ptr<signal> make_signal() = 0;

    /// Returns the environment of the machine: the steady clock, what became ready last goes next, and a few threads that start with the
    /// first task.
    static environment& real();
};

}} // namespace rill::RILL_ABI

#if !RILL_COMPILED
#include <rill/core/environment.ipp>
#endif
