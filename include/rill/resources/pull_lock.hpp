// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include <rill/core/environment.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// A lock on the state of an iteration, held by the thread that pulls. A stage releases it while it calls a function of the program or
/// waits. A state saved under the lock is therefore that before or after the element that is being pulled.
class pull_lock {
public:
    /// Locks for a thread that pulls, after all threads that wait to save.
    void lock();
    void unlock();
    /// Locks for a thread that saves. Waits at most `patience`; returns false if the lock is still held then.
    bool lock_to_save(std::chrono::nanoseconds patience = std::chrono::seconds(30));
    /// Returns true if a thread waits to save.
    bool is_awaited() const { return savers_.load(std::memory_order_relaxed) > 0; }

private:
    void wait(std::unique_lock<std::mutex>& lock, environment::time_point until);

    std::mutex mutex_;
    bool is_held_ = false;
    std::atomic<int> savers_{0};
    std::unique_ptr<environment::signal> released_; // made by the first thread that waits
};

/// The locks that a pull holds, from the innermost iteration outwards.
struct held_locks {
    pull_lock& lock;
    const held_locks* outer = nullptr;

    void release() const;
    void acquire() const;
    bool are_awaited() const { return lock.is_awaited() || (outer && outer->are_awaited()); }
};

}}} // namespace rill::RILL_ABI::detail

#if RILL_DEFINE
namespace rill { inline namespace RILL_ABI { namespace detail {

RILL_COLD void pull_lock::wait(std::unique_lock<std::mutex>& lock, environment::time_point until) {
    if (!released_) released_ = environment::real().make_signal();
    released_->wait(lock, until);
}

RILL_INLINE void pull_lock::lock() {
    std::unique_lock lock(mutex_);
    while (is_held_ || is_awaited()) wait(lock, environment::time_point::max());
    is_held_ = true;
}

RILL_INLINE void pull_lock::unlock() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    if (released_) released_->notify();
}

RILL_COLD bool pull_lock::lock_to_save(std::chrono::nanoseconds patience) {
    auto& real = environment::real();
    const auto until = real.now_plus(patience);
    std::unique_lock lock(mutex_);
    ++savers_;
    while (is_held_ && real.now() < until) wait(lock, until);
    --savers_;
    const bool is_mine = !is_held_;
    is_held_ = true;
    if (!is_mine && released_) released_->notify();
    return is_mine;
}

RILL_INLINE void held_locks::release() const {
    lock.unlock();
    if (outer) outer->release();
}

RILL_INLINE void held_locks::acquire() const { // in the same order as threads that save
    if (outer) outer->acquire();
    lock.lock();
}

}}} // namespace rill::RILL_ABI::detail
#endif
