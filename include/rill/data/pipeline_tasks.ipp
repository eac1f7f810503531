// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/data/pipeline.hpp>

#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

#include <rill/core/executor.hpp>
#include <rill/core/hash.hpp>
#include <rill/data/pipeline.ipp>

// The base of transformations that work ahead in tasks of the environment.

namespace rill { inline namespace RILL_ABI { namespace detail {

/// The state that an iterator shares with its tasks. A task works only while `stop` is false. The iterator waits for working tasks.
struct task_state {
    std::mutex mutex;
    std::unique_ptr<environment::signal> changed; // made with the first element
    std::atomic<bool> stop{false};

    /// Waits for a change, or for a short time after which the caller checks if the step is over. Both locks are released
    /// meanwhile.
    void wait(std::unique_lock<std::mutex>& lock, const pull_context& context) {
        context.throw_if_over();
        context.without_locks([&] {
            changed->wait(lock, context.environment.now_plus(std::chrono::milliseconds(20)));
            lock.unlock(); // threads that save take the lock of the pull first
        });
        lock.lock();
        context.throw_if_over();
    }
};

/// Counts the bytes of an element. An element beyond the limit becomes an error.
inline void keep_counted(held_bytes& memory, pulled_element& element) {
    try {
        memory.add(element.arrays);
    } catch (const resource_exhausted&) {
        element = {.problem = std::current_exception()};
    }
}

}}} // namespace rill::RILL_ABI::detail
