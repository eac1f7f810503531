// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <rill/core/executor.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <rill/core/algorithm.hpp>
#include <rill/core/log.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

struct executor::shared {
    struct timed {
        time_point when;
        std::uint64_t number;
        task run;
    };

    const int max_threads;
    mutable std::mutex mutex;
    std::condition_variable more;
    std::deque<task> ready;
    std::vector<timed> later; // latest time first; among equal times, newest first
    std::uint64_t last = 0;   // number of the youngest timed task
    int idle = 0, blocked = 0;
    bool stop = false;
    std::vector<std::thread> threads;

    explicit shared(int most) : max_threads(most) {}

    /// Returns the executor of the calling thread, or null.
    static shared*& of_this_thread() {
        thread_local shared* current = nullptr;
        return current;
    }

    // Callers of the functions below hold the mutex.
    /// Makes threads available for n tasks, within the maximum. Throws if no thread can be made, and all others are blocked.
    void provide_threads(std::size_t n) {
        const int unblocked = static_cast<int>(threads.size()) - blocked;
        if (n > static_cast<std::size_t>(idle) && unblocked < max_threads) try {
                threads.emplace_back([this] { work(); });
                return;
            } catch (...) {
                if (unblocked == 0) throw;
            }
        more.notify_one();
    }
    void take_due() {
        const auto now = std::chrono::steady_clock::now();
        while (!later.empty() && later.back().when <= now) {
            ready.push_back(std::move(later.back().run));
            later.pop_back();
        }
    }
    /// Removes and returns the next task; null if none is ready.
    task next() {
        if (!later.empty()) try {
                take_due();
            } catch (const std::bad_alloc&) { // due tasks are run one by one, without a place in the other list
                if (ready.empty()) {
                    task f = std::move(later.back().run);
                    later.pop_back();
                    return f;
                }
            }
        if (ready.empty()) return nullptr;
        task f = std::move(ready.front());
        ready.pop_front();
        if (!ready.empty()) provide_threads(ready.size());
        return f;
    }
    /// Runs a task. An exception ends the task, not the process: its callers handle what they can.
    static void run(const task& f) noexcept {
        try {
            f();
        } catch (...) {
            log_message(log_level::error, "a task of the environment has thrown an exception");
        }
    }

    void work() {
        of_this_thread() = this;
        std::unique_lock lock(mutex);
        while (!stop) {
            if (task f = next()) {
                lock.unlock();
                run(f);
                f = nullptr; // without the lock: its captures may post or withdraw tasks
                lock.lock();
                continue;
            }
            ++idle;
            if (later.empty()) {
                more.wait(lock);
            } else {
                const auto until = later.back().when; // a copy: the list changes meanwhile
                more.wait_until(lock, until);
            }
            --idle;
        }
    }
};

RILL_COLD executor::executor(int max_threads) : shared_(std::make_unique<shared>(max_threads)) {}

RILL_COLD executor::~executor() {
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->stop = true;
    }
    shared_->more.notify_all();
    for (auto& t : shared_->threads) t.join();
}

RILL_COLD void executor::post(task f) {
    const std::lock_guard lock(shared_->mutex);
    shared_->ready.push_back(std::move(f));
    try {
        shared_->provide_threads(shared_->ready.size());
    } catch (...) { // nobody would run it
        shared_->ready.pop_back();
        throw;
    }
}

RILL_COLD std::uint64_t executor::post_at(time_point when, task f) {
    auto& s = *shared_;
    const std::lock_guard lock(s.mutex);
    auto place = s.later.size();
    while (place > 0 && s.later[place - 1].when <= when) --place;
    s.later.insert(s.later.begin() + static_cast<std::ptrdiff_t>(place), {when, ++s.last, std::move(f)});
    if (place + 1 == s.later.size()) try { // the task is the next one: a thread must wait for its time
            s.provide_threads(1);
        } catch (...) {
            s.later.pop_back();
            throw;
        }
    return s.last;
}

RILL_COLD void executor::withdraw(std::uint64_t number) {
    task gone; // destroyed after the lock is released: its destructor may call this executor
    const std::lock_guard lock(shared_->mutex);
    const auto at = detail::find_if(shared_->later, [&](const auto& t) { return t.number == number; });
    if (at == shared_->later.end()) return;
    gone = std::move(at->run);
    shared_->later.erase(at);
}

RILL_COLD int executor::threads() const {
    const std::lock_guard lock(shared_->mutex);
    return static_cast<int>(shared_->threads.size());
}

RILL_COLD executor::blocked_thread::blocked_thread() {
    if (auto* s = shared::of_this_thread()) {
        const std::lock_guard lock(s->mutex);
        ++s->blocked;
        if (const auto n = s->ready.size() + !s->later.empty(); n > 0) try {
                s->provide_threads(n);
            } catch (...) { // the caller must not block
                --s->blocked;
                throw;
            }
    }
}
RILL_COLD executor::blocked_thread::~blocked_thread() {
    if (auto* s = shared::of_this_thread()) {
        const std::lock_guard lock(s->mutex);
        --s->blocked;
    }
}

}}} // namespace rill::RILL_ABI::detail
