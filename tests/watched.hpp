// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

/// A value that threads share: some change it, and others wait until it meets a condition. Tests use it instead of a sleep.
template <class T> class watched {
public:
    explicit watched(T value = {}) : value_(std::move(value)) {}

    /// Calls `f` with the value, which it may change, and wakes the threads that wait.
    template <class F> void change(const F& f) {
        const std::lock_guard lock(mutex_);
        f(value_);
        changed_.notify_all(); // under the lock: the thread that wakes may destroy *this
    }
    /// Sets the value, and wakes the threads that wait.
    void set(T value) {
        change([&](T& v) { v = std::move(value); });
    }
    /// Returns a copy of the value.
    T now() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }
    /// Waits until `condition` returns true for the value. Returns false if it does not within `most`.
    template <class F> bool comes(const F& condition, std::chrono::milliseconds most = std::chrono::seconds(20)) const {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, most, [&] { return condition(value_); });
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    T value_;
};
